import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { StreamBroken } from '../../../src/rails/event-reader.ts';
import { SpeechEventReader } from '../../../src/rails/read-speech-events.ts';

const event = (data: unknown) => Buffer.from(`data: ${JSON.stringify(data)}\n\n`);
const delta = (sound: Uint8Array) =>
  event({ type: 'speech.audio.delta', audio: Buffer.from(sound).toString('base64') });
const done = (usage?: unknown) => event({ type: 'speech.audio.done', usage });

describe('speech in events', () => {
  it('gives the same sound, however the events were cut', () => {
    const sound = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 6 });
    fc.assert(
      fc.property(sound, fc.integer({ min: 1, max: 50 }), (pieces, step) => {
        const reader = new SpeechEventReader();
        const wire = Buffer.concat([...pieces.map(delta), done()]);
        const heard: Buffer[] = [];
        for (let at = 0; at < wire.length; at += step) {
          heard.push(reader.push(wire.subarray(at, at + step)));
        }
        expect(Buffer.concat(heard)).toEqual(Buffer.concat(pieces));
        expect(reader.isDone).toBe(true);
      }),
    );
  });

  it('tells what was used as the last event does', () => {
    const reader = new SpeechEventReader();
    reader.push(delta(Uint8Array.of(1)));
    expect([reader.usage, reader.isDone]).toEqual([null, false]);
    reader.push(done({ input_tokens: 7, output_tokens: 90, total_tokens: 97 }));
    expect(reader.usage).toEqual({ inputTokens: 7, outputTokens: 90 });
  });

  it.each([
    undefined,
    null,
    {},
    { input_tokens: -1, output_tokens: 2 },
    { input_tokens: 1.5 },
    'x',
  ])('takes a usage that is none for nothing told: %j', (usage) => {
    const reader = new SpeechEventReader();
    reader.push(done(usage));
    expect([reader.usage, reader.isDone]).toEqual([null, true]);
  });

  it('passes over comments and events that it does not know', () => {
    const reader = new SpeechEventReader();
    const odd = Buffer.concat([Buffer.from(': still here\n\n'), event({ type: 'x' }), event([])]);
    expect(reader.push(odd)).toHaveLength(0);
  });

  it.each([{ error: { message: 'gone' } }, { type: 'error', message: 'gone' }])(
    'breaks where an event tells of a failure',
    (data) => {
      expect(() => new SpeechEventReader().push(event(data))).toThrow(StreamBroken);
    },
  );
});
