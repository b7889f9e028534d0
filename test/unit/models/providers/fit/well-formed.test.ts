import { describe, expect, it } from 'vitest';
import { wellFormed } from '../../../../../src/models/providers/fit/well-formed.ts';

const written = (value: unknown) => JSON.parse(wellFormed(JSON.stringify(value)));

describe('a JSON text that is made well-formed', () => {
  it('well-formed JSON text has U+FFFD for each unpaired surrogate', () => {
    expect(written('a\ud83d')).toBe('a\ufffd');
    expect(written({ '\ude00': ['\ude00\ud83d'] })).toEqual({ '\ufffd': ['\ufffd\ufffd'] });
  });

  it('well-formed JSON text keeps whole surrogate pairs, and escapes that are themselves text', () => {
    for (const text of ['😀', '\\ud83d', '\\\\ud83d\\', '\u0001\\"'])
      expect(written(text)).toBe(text);
    expect(written('\\\ud83d')).toBe('\\\ufffd');
  });

  it('a JSON text that is well-formed already is returned unchanged', () => {
    const text = JSON.stringify({ a: ['b', '😀'] });
    expect(wellFormed(text)).toBe(text);
  });
});
