import { describe, expect, it } from 'vitest';
import { wellFormed } from '../../../src/kernel/json/well-formed.ts';

const written = (value: unknown) => JSON.parse(wellFormed(JSON.stringify(value)));

describe('a JSON text that is made well-formed', () => {
  it('has U+FFFD for each half of a pair of surrogates', () => {
    expect(written('a\ud83d')).toBe('a\ufffd');
    expect(written({ '\ude00': ['\ude00\ud83d'] })).toEqual({ '\ufffd': ['\ufffd\ufffd'] });
  });

  it('keeps whole pairs, and escapes that are themselves text', () => {
    for (const text of ['😀', '\\ud83d', '\\\\ud83d\\', '\u0001\\"'])
      expect(written(text)).toBe(text);
    expect(written('\\\ud83d')).toBe('\\\ufffd');
  });

  it('is the very same text where nothing is wrong with it', () => {
    const text = JSON.stringify({ a: ['b', '😀'] });
    expect(wellFormed(text)).toBe(text);
  });
});
