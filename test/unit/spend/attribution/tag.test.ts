import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { normalTag } from '../../../../src/spend/attribution/tag.ts';

describe('a tag', () => {
  it('a tag is trimmed and lower-cased, and reads the same ever after', () => {
    expect(normalTag('  Summarize Doc-42 ')).toBe('summarize doc-42');
    fc.assert(
      fc.property(fc.string({ unit: 'binary-ascii', maxLength: 140 }), (text) => {
        const tag = normalTag(text);
        if (tag !== undefined) expect(normalTag(tag)).toBe(tag);
      }),
    );
  });

  it('a tag that is empty, longer than 128 characters or not printable ASCII is refused', () => {
    for (const text of ['', '   ', 'a\0b', 'a\nb', 'a\u007fb', 'größe', '🔑', '\ud83d', 'İ']) {
      expect(normalTag(text), JSON.stringify(text)).toBeUndefined();
    }
    expect(normalTag('a'.repeat(129))).toBeUndefined();
    expect(normalTag(`  ${'A'.repeat(128)}  `)).toBe('a'.repeat(128));
    // Its lower case is plain ASCII: the sign for kelvin.
    expect(normalTag('\u212a')).toBe('k');
  });
});
