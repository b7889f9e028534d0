import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { StreamBroken } from '../../../../../src/models/providers/openai/answer-reader.ts';
import { SpeechEventReader } from '../../../../../src/models/providers/openai/read-speech-events.ts';
import { openedAnswer } from '../../../../support/opened-answer.ts';

const event = (data: unknown) => Buffer.from(`data: ${JSON.stringify(data)}\n\n`);
const delta = (sound: Uint8Array) =>
  event({ type: 'speech.audio.delta', audio: Buffer.from(sound).toString('base64') });
const done = (usage?: unknown) => event({ type: 'speech.audio.done', usage });

const reading = (...pieces: Buffer[]) => new SpeechEventReader(openedAnswer(...pieces).answer);

describe('speech in events', () => {
  it('speech events yield the same audio, however they are cut', async () => {
    const sound = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(sound, fc.integer({ min: 1, max: 50 }), async (pieces, step) => {
        const wire = Buffer.concat([...pieces.map(delta), done()]);
        const cut = Array.from({ length: Math.ceil(wire.length / step) }, (_, i) =>
          wire.subarray(i * step, (i + 1) * step),
        );
        const reader = reading(...cut);
        const heard: Buffer[] = [];
        while (!reader.isOver) heard.push(await reader.read());
        expect(Buffer.concat(heard)).toEqual(Buffer.concat(pieces));
      }),
    );
  });

  it('speech events yield the usage of the last event', async () => {
    const usage = { input_tokens: 7, output_tokens: 90, total_tokens: 97 };
    const reader = reading(delta(Uint8Array.of(1)), done(usage));
    await reader.read();
    expect([reader.usage, reader.isOver]).toEqual([null, false]);
    await reader.read();
    expect(reader.usage).toEqual({ inputTokens: 7, outputTokens: 90 });
  });

  it.each([
    undefined,
    null,
    {},
    { input_tokens: -1, output_tokens: 2 },
    { input_tokens: 1.5 },
    'x',
  ])('an invalid usage in the last speech event counts as none: %j', async (usage) => {
    const reader = reading(done(usage));
    await reader.read();
    expect([reader.usage, reader.isOver]).toEqual([null, true]);
  });

  it('comments and unknown speech events are skipped', async () => {
    const odd = Buffer.concat([Buffer.from(': still here\n\n'), event({ type: 'x' }), event([])]);
    expect(await reading(odd).read()).toHaveLength(0);
  });

  it('speech events break when they end without the last event', async () => {
    const reader = reading(delta(Uint8Array.of(1)));
    await reader.read();
    await expect(reader.read()).rejects.toThrow(new StreamBroken('it ended before its end'));
  });

  it.each([{ error: { message: 'gone' } }, { type: 'error', message: 'gone' }])(
    'speech events break at an error event and stop the upstream',
    async (data) => {
      const { answer, told } = openedAnswer(event(data));
      await expect(new SpeechEventReader(answer).read()).rejects.toThrow(StreamBroken);
      expect(told.stops).toBe(1);
    },
  );
});
