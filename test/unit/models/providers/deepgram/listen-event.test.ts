import { describe, expect, it } from 'vitest';
import { readListenEvent } from '../../../../../src/models/providers/deepgram/listen-event.ts';

const read = (event: unknown) =>
  readListenEvent(Buffer.from(typeof event === 'string' ? event : JSON.stringify(event)));

describe('what is read of an upstream that transcribes live', () => {
  it('is the best transcript of a result, and where its sound ends', () => {
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

  it('is the total at the end', () => {
    expect(read({ type: 'Metadata', duration: 12.25 })).toEqual({
      kind: 'metadata',
      seconds: 12.25,
    });
  });

  it.each([-1, '12', null, undefined])('is no time, but for words, told as %s', (told) => {
    expect(read({ type: 'Metadata', duration: told })).toEqual({ kind: 'metadata', seconds: null });
    const silence = { type: 'Results', start: told, duration: told };
    expect(read(silence)).toMatchObject({ endSeconds: 0 });
    const words = { ...silence, channel: { alternatives: [{ transcript: 'hello' }] } };
    expect(read(words)).toMatchObject({ endSeconds: Number.POSITIVE_INFINITY });
  });

  it.each(['', 'no JSON', '[]', '1', 'null', '{"type":"SpeechStarted"}', '{"type":["Results"]}'])(
    'is nothing of %s',
    (text) => expect(read(text)).toBeUndefined(),
  );

  it.each([
    {},
    { channel: [] },
    { channel: { alternatives: {} } },
    { channel: { alternatives: [1] } },
  ])('is no words where the result has none: %j', (part) =>
    expect(read({ type: 'Results', ...part })).toMatchObject({ text: '', isFinal: false }),
  );
});
