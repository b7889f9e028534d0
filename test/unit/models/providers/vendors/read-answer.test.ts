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
import { usualStallMs } from '../../../../support/longest-stall.ts';

/** As ElevenLabs writes it: a word or a blank of six members. */
const item = (at: number) => ({
  text: at % 2 === 0 ? 'Wort' : ' ',
  start: at / 10,
  end: (at + 1) / 10,
  type: at % 2 === 0 ? 'word' : 'spacing',
  speaker_id: 'speaker_0',
  logprob: -1 / (at + 1),
});
const transcript = (words: number) => ({
  text: 'Wort '.repeat(words),
  words: Array.from({ length: 2 * words }, (_, at) => item(at)),
});

describe('what a vendor answers', () => {
  it('a vendor’s hour-long transcript is read and written without blocking the event loop', async () => {
    const json = transcript(300 * 60);
    const body = Buffer.from(JSON.stringify(json));
    let read: unknown;
    const readMs = await usualStallMs(50, async () => {
      read = await objectOf({ body });
    });
    expect(JSON.stringify(read) === body.toString()).toBe(true);
    let wrote: Buffer = Buffer.alloc(0);
    const wroteMs = await usualStallMs(50, async () => {
      wrote = await deliveryBody({ json }, {});
    });
    expect(wrote.equals(Buffer.from(JSON.stringify({ result: json })))).toBe(true);
    expect(Math.max(readMs, wroteMs)).toBeLessThan(50);
  });

  it('a vendor’s response with too many elements is refused as too large and not as a vendor failure', async () => {
    const body = Buffer.from(`{"a":[${'{"a":0},'.repeat(1_000_001)}0]}`);
    await expect(objectOf({ body })).rejects.toThrow(VendorSaidTooMuch);
  });

  it('a vendor’s response must be a JSON object', async () => {
    expect(await objectOf({ body: Buffer.from('{"text":"a"}') })).toEqual({ text: 'a' });
    for (const body of ['', '[]', '"text"', 'null', '{', '['.repeat(100_000)]) {
      await expect(objectOf({ body: Buffer.from(body) }), body.slice(0, 9)).rejects.toThrow(
        VendorFailed,
      );
    }
    expect(() => requireText(7)).toThrow(VendorFailed);
    expect(requireText('')).toBe('');
  });

  it('a vendor’s words are read when they have valid times, and other elements are skipped', async () => {
    const good = { word: ' a ', start: 0.5, end: 0.25 };
    const list = [good, null, 'b', { word: 'c' }, { word: 'd', start: -1, end: 1 }, { word: 5 }];
    expect(await spacedWords(list, 'word', 1_000)).toEqual([
      { word: 'a', startMs: 500, endMs: 500, gap: ' ' },
    ]);
    expect(await spacedWords({ length: 3 }, 'word', 1)).toEqual([]);
    expect(await spacedWords(undefined, 'text', 1)).toEqual([]);
  });
});
