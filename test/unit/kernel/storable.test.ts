import { describe, expect, it } from 'vitest';
import { isStorable } from '../../../src/kernel/storable.ts';

describe('a text that is kept', () => {
  it('may be in any script, with whole characters and no NUL', () => {
    for (const text of ['', 'plain', 'مفتاح', '🔑', 'e\u0301', '\u0001']) {
      expect(isStorable(text), JSON.stringify(text)).toBe(true);
    }
    for (const text of ['\0', 'a\0b', '\ud83d', '\udd11\ud83d']) {
      expect(isStorable(text), JSON.stringify(text)).toBe(false);
    }
  });
});
