import { describe, expect, it } from 'vitest';
import { deliveryBody } from '../../../../../src/marketplace/delivery-body.ts';
import {
  objectOf,
  requireText,
  spacedWords,
} from '../../../../../src/models/providers/vendors/read-answer.ts';
import {
  VendorFailed,
  VendorSaidTooMuch,
} from '../../../../../src/models/providers/vendors/vendor-api.ts';
import { slowness, threadCpuMs } from '../../../../support/thread-cpu.ts';

/** As ElevenLabs writes it: a word or a blank of six members. */
const item = (at: number) => ({
  ...{ text: at % 2 === 0 ? 'Wort' : ' ', start: at / 10, end: (at + 1) / 10 },
  ...{ type: at % 2 === 0 ? 'word' : 'spacing', speaker_id: 'speaker_0', logprob: -1 / (at + 1) },
});
const transcript = (words: number) => ({
  text: 'Wort '.repeat(words),
  words: Array.from({ length: 2 * words }, (_, at) => item(at)),
});

/** What `run` comes to, and the most that one turn of the event loop has taken of this thread meanwhile. */
async function inTurns<T>(run: () => Promise<T>): Promise<{ value: T; longestMs: number }> {
  let isOver = false;
  let longestMs = 0;
  const running = run().finally(() => {
    isOver = true;
  });
  while (!isOver) {
    const startedMs = threadCpuMs();
    await new Promise(setImmediate);
    longestMs = Math.max(longestMs, threadCpuMs() - startedMs);
  }
  return { value: await running, longestMs };
}

describe('what a vendor answers', () => {
  it('may be an hour of the fastest speech, read and written without holding a turn up', async () => {
    const json = transcript(300 * 60);
    const body = Buffer.from(JSON.stringify(json));
    const read = await inTurns(() => objectOf({ body }));
    expect(JSON.stringify(read.value) === body.toString()).toBe(true);
    const wrote = await inTurns(() => deliveryBody({ json: read.value }, {}));
    expect(wrote.value.equals(Buffer.from(JSON.stringify({ result: json })))).toBe(true);
    const longestMs = Math.max(read.longestMs, wrote.longestMs);
    expect(longestMs / slowness()).toBeLessThan(50);
  });

  it('is too much beyond that many hours, which is not the vendor that fails', async () => {
    const body = Buffer.from(`{"a":[${'{"a":0},'.repeat(1_000_001)}0]}`);
    await expect(objectOf({ body })).rejects.toThrow(VendorSaidTooMuch);
  });

  it('is an object, or none', async () => {
    expect(await objectOf({ body: Buffer.from('{"text":"a"}') })).toEqual({ text: 'a' });
    for (const body of ['', '[]', '"text"', 'null', '{', '['.repeat(100_000)]) {
      await expect(objectOf({ body: Buffer.from(body) }), body.slice(0, 9)).rejects.toThrow(
        VendorFailed,
      );
    }
    expect(() => requireText(7)).toThrow(VendorFailed);
    expect(requireText('')).toBe('');
  });

  it('has words where they have times, whatever stands between them', async () => {
    const good = { word: ' a ', start: 0.5, end: 0.25 };
    const list = [good, null, 'b', { word: 'c' }, { word: 'd', start: -1, end: 1 }, { word: 5 }];
    expect(await spacedWords(list, 'word', 1_000)).toEqual([
      { word: 'a', startMs: 500, endMs: 500, gap: ' ' },
    ]);
    expect(await spacedWords({ length: 3 }, 'word', 1)).toEqual([]);
    expect(await spacedWords(undefined, 'text', 1)).toEqual([]);
  });
});
