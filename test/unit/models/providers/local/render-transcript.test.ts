import { describe, expect, it } from 'vitest';
import {
  renderFor,
  textOf,
  usageOf,
} from '../../../../../src/models/providers/local/render-transcript.ts';
import type { PlainFormat } from '../../../../../src/models/providers/transcription-rail.ts';

const whole = {
  segments: [
    { startMs: 0, endMs: 1_500, text: 'one two' },
    { startMs: 3_723_004, endMs: 3_725_999, text: 'three' },
  ],
  durationMs: 3_726_000,
  language: 'english',
};
const file = { name: 'sound', contentType: undefined, bytes: Buffer.alloc(0), durationMs: 1_000 };
const call = { file, model: 'ears-1', granularities: undefined };
const written = async (format: PlainFormat, of = whole) => {
  const { body, contentType } = await renderFor(of, format, call);
  return [contentType.split(';')[0], body.toString()];
};

describe('a transcript in the format that was asked for', () => {
  it('a transcript in json has its text and its duration', async () => {
    expect(textOf(whole)).toBe('one two three');
    expect(usageOf(whole)).toEqual({ type: 'duration', seconds: 3_726 });
    expect(await written('json')).toEqual([
      'application/json',
      '{"text":"one two three","usage":{"type":"duration","seconds":3726}}',
    ]);
  });

  it('a transcript in verbose_json has its segments in seconds', async () => {
    const verbose: unknown = JSON.parse((await written('verbose_json'))[1] ?? '');
    expect(verbose).toMatchObject({
      task: 'transcribe',
      language: 'english',
      duration: 3_726,
      text: 'one two three',
      segments: [
        { id: 0, start: 0, end: 1.5, text: 'one two' },
        { id: 1, start: 3_723.004, end: 3_725.999, text: 'three' },
      ],
    });
  });

  it('a transcript in verbose_json has every member of OpenAI’s segments', async () => {
    const { segments } = JSON.parse((await written('verbose_json'))[1] ?? '') as {
      segments: object[];
    };
    for (const segment of segments) {
      expect(segment).toEqual({
        id: expect.any(Number),
        seek: expect.any(Number),
        start: expect.any(Number),
        end: expect.any(Number),
        text: expect.any(String),
        tokens: [],
        temperature: 0,
        avg_logprob: 0,
        compression_ratio: expect.any(Number),
        no_speech_prob: 0,
      });
    }
    expect(segments).toMatchObject([{ seek: 0 }, { seek: 372_000 }]);
    const again = { ...whole, segments: [{ startMs: 0, endMs: 1, text: 'again '.repeat(50) }] };
    const repeated = JSON.parse((await written('verbose_json', again))[1] ?? '');
    expect(repeated.segments[0].compression_ratio).toBeGreaterThan(10);
    expect(segments).toMatchObject([{ compression_ratio: 7 / 15 }, { compression_ratio: 5 / 13 }]);
  });

  it('a transcript in verbose_json has words, segments or both, as requested', async () => {
    const words = [
      { word: 'one', startMs: 100, endMs: 400 },
      { word: 'two', startMs: 500, endMs: 1_450 },
    ];
    const timed = { ...whole, segments: [{ startMs: 0, endMs: 1_500, text: 'one two', words }] };
    const told = async (...granularities: ('word' | 'segment')[]) =>
      JSON.parse(
        (await renderFor(timed, 'verbose_json', { ...call, granularities })).body.toString(),
      );
    const seconds = [
      { word: 'one', start: 0.1, end: 0.4 },
      { word: 'two', start: 0.5, end: 1.45 },
    ];
    expect((await told('word')).words).toEqual(seconds);
    expect(await told('word')).not.toHaveProperty('segments');
    expect(await told('segment')).not.toHaveProperty('words');
    expect(await told('word', 'segment')).toMatchObject({ words: seconds, segments: [{ id: 0 }] });
  });

  it('a transcript can be rendered as plain text, SRT or VTT', async () => {
    expect(await written('text')).toEqual(['text/plain', 'one two three\n']);
    expect(await written('srt')).toEqual([
      'application/x-subrip',
      '1\n00:00:00,000 --> 00:00:01,500\none two\n\n2\n01:02:03,004 --> 01:02:05,999\nthree\n',
    ]);
    expect(await written('vtt')).toEqual([
      'text/vtt',
      'WEBVTT\n\n00:00:00.000 --> 00:00:01.500\none two\n\n01:02:03.004 --> 01:02:05.999\nthree\n',
    ]);
  });

  it.each(['srt', 'vtt'] as const)(
    'a transcript in %s rounds its times before splitting them into hours, minutes and seconds',
    async (format) => {
      const segments = [{ startMs: 999.6, endMs: 3_599_999.5, text: 'on time' }];
      const [, cues] = await written(format, { ...whole, segments });
      expect(cues?.replaceAll(',', '.')).toContain('00:00:01.000 --> 01:00:00.000');
    },
  );

  it('a transcript without speech is empty as plain text, SRT and VTT', async () => {
    const nothing = { ...whole, segments: [] };
    expect((await written('text', nothing))[1]).toBe('\n');
    expect((await written('srt', nothing))[1]).toBe('');
    expect((await written('vtt', nothing))[1]).toBe('WEBVTT\n');
  });
});
