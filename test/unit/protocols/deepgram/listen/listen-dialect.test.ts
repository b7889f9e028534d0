import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  type ListenParameters,
  listenDialect,
} from '../../../../../src/protocols/deepgram/listen/listen-dialect.ts';
import type { SentEvent } from '../../../../support/voice-world.ts';

const STREAM = {
  requestId: 'req_1',
  created: '2026-01-01T00:00:00.000Z',
  model: { id: 'local/pocketsphinx', arch: 'pocketsphinx', version: 'local' },
};
const WISHES: ListenParameters = {
  interimResults: true,
  endpointingMs: 400,
  utteranceEndMs: 1_000,
  vadEvents: true,
  punctuated: false,
};
const SOUND = new Uint8Array([1, 2, 3]);
const HEARD = {
  heardMs: 1_000,
  startMs: 0,
  endMs: 1_000,
  latencyMs: 400,
  silentMs: 400,
  isCut: false,
  failed: false,
};
const said = (text: string, asked = false) => ({ ...HEARD, text, tail: text, asked });

function write(change: Partial<ListenParameters> = {}) {
  const sent: SentEvent[] = [];
  const dialect = listenDialect({ ...WISHES, ...change }, STREAM);
  const writer = dialect.writer((message) => sent.push(message as SentEvent));
  const of = (type: string) => sent.filter((event) => event.type === type);
  return { dialect, sent, writer, of };
}

describe('the listen dialect', () => {
  it('the listen dialect sends when speech began, and each word with its times', () => {
    const { sent, writer } = write();
    writer.began(200);
    writer.segment({ text: 'one', isFinal: false, startMs: 200, endMs: 500 });
    writer.heard({ ...said('one two'), startMs: 200, endMs: 1_400 });
    expect(sent).toMatchObject([
      { type: 'SpeechStarted', channel: [0, 1], timestamp: 0.2 },
      { type: 'Results', is_final: false, speech_final: false, start: 0.2, duration: 0.3 },
      { type: 'Results', is_final: true, speech_final: true, start: 0.2, duration: 1.2 },
    ]);
    expect(sent.at(-1)).toMatchObject({
      channel_index: [0, 1],
      from_finalize: false,
      channel: {
        alternatives: [
          {
            transcript: 'one two',
            words: [
              { word: 'one', start: 0.2, end: 0.8 },
              { word: 'two', start: 0.8, end: 1.4 },
            ],
          },
        ],
      },
      metadata: {
        request_id: 'req_1',
        model_uuid: expect.stringMatching(
          /^[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-8[\da-f]{3}-[\da-f]{12}$/,
        ),
        model_info: { name: 'local/pocketsphinx', arch: 'pocketsphinx', version: 'local' },
      },
    });
  });

  it("the listen dialect takes start, end and UtteranceEnd from the recogniser's word times when there are any", () => {
    const { sent, writer } = write({ utteranceEndMs: 1_000 });
    writer.began(200);
    const words = [
      { word: 'one', startMs: 150, endMs: 450 },
      { word: 'two', startMs: 900, endMs: 1_310 },
    ];
    writer.heard({ ...said('one two'), words, startMs: 200, endMs: 1_200 });
    expect(sent.at(-1)).toMatchObject({
      start: 0.15,
      duration: 1.16,
      channel: {
        alternatives: [
          {
            words: [
              { word: 'one', start: 0.15, end: 0.45, confidence: 1 },
              { word: 'two', start: 0.9, end: 1.31, confidence: 1 },
            ],
          },
        ],
      },
    });
    writer.took(SOUND, 2_400);
    expect(sent.at(-1)).toMatchObject({ type: 'UtteranceEnd', last_word_end: 1.31 });
  });

  it('the listen dialect sends no event that was not requested', () => {
    const { sent, writer } = write({
      interimResults: false,
      vadEvents: false,
      utteranceEndMs: undefined,
    });
    writer.began(0);
    writer.segment({ text: 'one', isFinal: false, startMs: 0, endMs: 500 });
    writer.heard(said('one'));
    writer.took(SOUND, 9_000);
    expect(sent.map(({ type }) => type)).toEqual(['Results']);
  });

  it('the listen dialect sends UtteranceEnd once, when no word followed for the set time, whether decoding was late or not', () => {
    const onTime = write();
    onTime.writer.began(0);
    onTime.writer.heard(said('one'));
    onTime.writer.took(SOUND, 1_999);
    expect(onTime.of('UtteranceEnd')).toEqual([]);
    onTime.writer.took(SOUND, 2_000);
    onTime.writer.took(SOUND, 3_000);
    const late = write();
    late.writer.began(0);
    late.writer.took(SOUND, 5_000);
    late.writer.heard(said('one'));
    for (const { of, sent } of [onTime, late]) {
      expect(of('UtteranceEnd')).toEqual([
        { type: 'UtteranceEnd', channel: [0, 1], last_word_end: 1 },
      ]);
      expect(sent.at(-1)?.type).toBe('UtteranceEnd');
    }
  });

  it('the listen dialect sends no UtteranceEnd while the caller speaks again, and none for a noise', () => {
    const { of, writer } = write();
    writer.began(0);
    writer.heard(said(''));
    writer.took(SOUND, 5_000);
    writer.began(5_000);
    writer.heard({ ...said('one'), endMs: 5_500 });
    writer.began(6_000);
    writer.took(SOUND, 9_000);
    expect(of('UtteranceEnd')).toEqual([]);
    writer.heard({ ...said('two'), endMs: 9_000 });
    writer.took(SOUND, 10_000);
    expect(of('UtteranceEnd')).toMatchObject([{ last_word_end: 9 }]);
  });

  it('the listen dialect sends no speech_final when an utterance was only cut for its length', () => {
    const { sent, writer } = write();
    writer.heard({ ...said('on and'), isCut: true });
    writer.heard({ ...said('on', true), isCut: true });
    expect(sent).toMatchObject([
      { is_final: true, speech_final: false },
      { is_final: true, speech_final: true },
    ]);
  });

  it('the listen dialect marks a finalized result, also when no words were left', () => {
    const { sent, writer } = write({ endpointingMs: false });
    writer.heard(said('one'));
    writer.heard(said('two', true));
    writer.nothingLeft(3_000);
    expect(sent).toMatchObject([
      { speech_final: false, from_finalize: false },
      { speech_final: true, from_finalize: true },
      { speech_final: true, from_finalize: true, start: 3, duration: 0 },
    ]);
  });

  it('the listen dialect ends with the seconds and the digest of its audio, and with the error if there is one', () => {
    const { sent, writer } = write();
    writer.took(SOUND, 1);
    const error = { code: 'insufficient_balance', message: 'No more.' };
    writer.ended({ code: 1008, reason: 'insufficient_balance', error }, { seconds: 1.25 });
    expect(sent).toMatchObject([
      {
        type: 'Metadata',
        request_id: 'req_1',
        duration: 1.25,
        channels: 1,
        sha256: createHash('sha256').update(SOUND).digest('hex'),
        created: STREAM.created,
      },
      { type: 'Error', variant: 'insufficient_balance', description: 'No more.' },
    ]);
  });

  it.each([
    [10, 300],
    [400, 400],
    [60_000, 5_000],
    [false as const, 500],
  ])(
    'the listen dialect reads endpointing=%s as %i ms of silence',
    (endpointingMs, silenceDurationMs) => {
      expect(write({ endpointingMs }).dialect).toMatchObject({ silenceDurationMs });
    },
  );

  it('the listen dialect sends punctuated words when they were requested', () => {
    const { sent, writer } = write({ punctuated: true });
    writer.heard(said('one'));
    expect(JSON.stringify(sent)).toContain('"punctuated_word":"one"');
  });
});
