import { describe, expect, it } from 'vitest';
import { headOf, isStorable, storableJson, storableText } from '../../../src/kernel/storable.ts';

describe('a text that is kept', () => {
  it('a storable text may be in any script, with whole characters and no NUL', () => {
    for (const text of ['', 'plain', 'مفتاح', '🔑', 'e\u0301', '\u0001']) {
      expect(isStorable(text), JSON.stringify(text)).toBe(true);
    }
    for (const text of ['\0', 'a\0b', '\ud83d', '\udd11\ud83d']) {
      expect(isStorable(text), JSON.stringify(text)).toBe(false);
    }
  });
});

describe('what the database cannot hold of a text', () => {
  it('storableText replaces NULs and half characters, and leaves every other text unchanged', () => {
    expect(storableText('a\0b\ud83dc 🔑')).toBe('ab\ufffdc 🔑');
    for (const odd of [{ a: ['x\0'] }, { a: { b: '\udd11' } }]) {
      expect(isStorable(JSON.stringify(JSON.parse(storableJson(odd))))).toBe(true);
      expect(storableJson(odd)).not.toMatch(/\\u/);
    }
    const plain = { words: String.raw`\ud83d and \u0000, spelled`, key: '🔑', cost: 1 };
    expect(JSON.parse(storableJson(plain))).toEqual(plain);
  });
});

describe('the head of a text', () => {
  it('the head of a text ends with a whole character', () => {
    expect(headOf('plain', 3)).toBe('pla');
    expect(headOf('ab🔑', 3)).toBe('ab');
    expect(headOf('ab🔑', 4)).toBe('ab🔑');
    expect(headOf('a🔑b', 3)).toBe('a🔑');
    expect(headOf('🔑', 0)).toBe('');
  });
});
