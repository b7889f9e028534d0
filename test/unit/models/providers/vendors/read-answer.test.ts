import { describe, expect, it } from 'vitest';
import {
  objectOf,
  requireText,
  spacedWords,
} from '../../../../../src/models/providers/vendors/read-answer.ts';
import { VendorFailed } from '../../../../../src/models/providers/vendors/vendor-api.ts';

describe('what a vendor answers', () => {
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
