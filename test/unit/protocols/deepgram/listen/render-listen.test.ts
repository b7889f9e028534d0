import { describe, expect, it } from 'vitest';
import { uuidOf } from '../../../../../src/kernel/ids.ts';
import { renderFor } from '../../../../../src/models/providers/local/render-transcript.ts';
import {
  type ListenPreferences,
  listenAnswer,
} from '../../../../../src/protocols/deepgram/listen/render-listen.ts';
import { usualStallMs } from '../../../../support/longest-stall.ts';

const WISHES: ListenPreferences = {
  options: [],
  punctuated: false,
  uttSplitMs: undefined,
  metadata: { request_id: 'req', sha256: 'aa', created: 'now', model: 'acme/ears' },
};
const FILE = { name: 'sound', contentType: undefined, bytes: Buffer.alloc(0), durationMs: 4_000 };
const CALL = { file: FILE, model: 'ears-1', granularities: undefined };
const answerOf = (change: Partial<ListenPreferences> = {}) =>
  listenAnswer({ ...WISHES, ...change });
const WHOLE = {
  durationMs: 4_000,
  language: 'english',
  segments: [
    {
      startMs: 0,
      endMs: 1_000,
      text: 'Hello there.',
      words: [
        { word: 'Hello', startMs: 0, endMs: 400 },
        { word: 'there.', startMs: 400, endMs: 1_000 },
      ],
    },
    { startMs: 2_000, endMs: 3_000, text: 'bye' },
  ],
};
const rendered = async (change: Partial<ListenPreferences> = {}) => {
  const { body, contentType } = await answerOf(change).write(WHOLE, CALL);
  expect(contentType).toBe('application/json');
  return JSON.parse(body.toString('utf8'));
};

describe('a transcript in the shape of Deepgram', () => {
  it('a transcript in Deepgram’s format has our metadata, and words with given or estimated times', async () => {
    const uuid = uuidOf('acme/ears');
    expect(await rendered()).toEqual({
      metadata: {
        transaction_key: 'deprecated',
        request_id: 'req',
        sha256: 'aa',
        created: 'now',
        duration: 4,
        channels: 1,
        models: [uuid],
        model_info: { [uuid]: { name: 'acme/ears', version: 'latest', arch: 'ears-1' } },
      },
      results: {
        channels: [
          {
            alternatives: [
              {
                transcript: 'Hello there. bye',
                confidence: 1,
                words: [
                  { word: 'hello', start: 0, end: 0.4, confidence: 1 },
                  { word: 'there', start: 0.4, end: 1, confidence: 1 },
                  { word: 'bye', start: 2, end: 3, confidence: 1 },
                ],
              },
            ],
          },
        ],
      },
    });
  });

  it('a transcript in Deepgram’s format splits utterances at the requested silence', async () => {
    const utterances = async (uttSplitMs: number) =>
      (await rendered({ punctuated: true, uttSplitMs })).results.utterances.map(
        ({ start, transcript, words }: { start: number; transcript: string; words: unknown[] }) => [
          start,
          transcript,
          words.length,
        ],
      );
    expect(await utterances(800)).toEqual([
      [0, 'Hello there.', 2],
      [2, 'bye', 1],
    ]);
    expect(await utterances(2_000)).toEqual([[0, 'Hello there. bye', 3]]);
  });

  it('a transcript in Deepgram’s format warns once about each requested option that is not supported', async () => {
    const options = [
      ['diarize', 'true'],
      ['punctuate', 'false'],
      ['keyterm', 'a'],
      ['keyterm', 'b'],
      ['utterances', 'true'],
      ['detect_language', 'true'],
    ] as [string, string][];
    const { metadata, results } = await rendered({ options });
    expect(metadata.warnings.map(({ parameter }: { parameter: string }) => parameter)).toEqual([
      'diarize',
      'keyterm',
    ]);
    expect(results.channels[0].detected_language).toBe('english');
  });

  it('an empty transcript in Deepgram’s format has confidence 0 and no words', async () => {
    const nothing = { ...WHOLE, segments: [] };
    const { body } = await answerOf({ uttSplitMs: 800 }).write(nothing, CALL);
    expect(JSON.parse(body.toString('utf8')).results).toEqual({
      channels: [{ alternatives: [{ transcript: '', confidence: 0, words: [] }] }],
      utterances: [],
    });
  });

  it('a Deepgram response is relayed with our metadata, and a transcript can be rendered as text', async () => {
    const own = await answerOf().relay({ channels: [] }, CALL);
    expect(JSON.parse(own.body.toString('utf8'))).toMatchObject({
      metadata: { duration: 4 },
      results: { channels: [] },
    });
    const text = await renderFor(WHOLE, 'text', { ...CALL, listen: answerOf() });
    expect(text.body.toString('utf8')).toBe('Hello there. bye\n');
  });

  it('rendering an eight-hour transcript in Deepgram’s format does not block the event loop', async () => {
    const words = Array.from({ length: 80_000 }, (_, i) => ({
      word: 'word',
      startMs: i * 300,
      endMs: i * 300 + 200,
    }));
    const text = words.map(({ word }) => word).join(' ');
    const long = { ...WHOLE, segments: [{ startMs: 0, endMs: 24_000_000, text, words }] };
    const work = () => answerOf({ uttSplitMs: 800, punctuated: true }).write(long, CALL);
    expect(await usualStallMs(50, work)).toBeLessThan(50);
  });
});
