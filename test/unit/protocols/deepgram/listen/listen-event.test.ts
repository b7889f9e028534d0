import { describe, expect, it } from 'vitest';
import { readListenEvent } from '../../../../../src/protocols/deepgram/listen/listen-event.ts';

const read = (event: unknown) =>
  readListenEvent(Buffer.from(typeof event === 'string' ? event : JSON.stringify(event)));

describe('what is read of an upstream that transcribes live', () => {
  it('a Deepgram result is read as its best transcript and the end of its audio', () => {
    const alternatives = [{ transcript: 'hello' }, { transcript: 'yellow' }];
    const result = { type: 'Results', start: 1.5, duration: 2, is_final: true };
    expect(read({ ...result, speech_final: true, channel: { alternatives } })).toEqual({
      kind: 'results',
      text: 'hello',
      isFinal: true,
      speechFinal: true,
      endSeconds: 3.5,
    });
  });

  it('a Deepgram metadata event is read as the total duration', () => {
    expect(read({ type: 'Metadata', duration: 12.25 })).toEqual({
      kind: 'metadata',
      seconds: 12.25,
    });
  });

  it.each([-1, '12', null, undefined])(
    'a Deepgram time of %s is unknown, and a result with words then ends at infinity',
    (told) => {
      expect(read({ type: 'Metadata', duration: told })).toEqual({
        kind: 'metadata',
        seconds: null,
      });
      const silence = { type: 'Results', start: told, duration: told };
      expect(read(silence)).toMatchObject({ endSeconds: 0 });
      const words = { ...silence, channel: { alternatives: [{ transcript: 'hello' }] } };
      expect(read(words)).toMatchObject({ endSeconds: Number.POSITIVE_INFINITY });
    },
  );

  it.each(['', 'no JSON', '[]', '1', 'null', '{"type":"SpeechStarted"}', '{"type":["Results"]}'])(
    'a Deepgram event is ignored when it reads: %s',
    (text) => expect(read(text)).toBeUndefined(),
  );

  it.each([
    {},
    { channel: [] },
    { channel: { alternatives: {} } },
    { channel: { alternatives: [1] } },
  ])('a Deepgram result without a transcript has no words: %j', (part) =>
    expect(read({ type: 'Results', ...part })).toMatchObject({ text: '', isFinal: false }),
  );
});
