import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { matchesPattern } from '../../../../../src/engines/guide/schema/match-pattern.ts';
import { readPattern } from '../../../../../src/engines/guide/schema/pattern-tree.ts';
import { SchemaRefused, SchemaWork } from '../../../../../src/engines/guide/schema/schema-work.ts';
import { writePattern } from '../../../../../src/engines/guide/schema/write-pattern.ts';

const PATTERNS = [
  ...['', 'ab+c', '^a|b$', '^(a|bc)*$', '^[a-c]{2,3}?x?$', '^[^a-c]+$', '\\bab\\b', 'a\\Bb', '^.$'],
  ...[
    '^\\d{2,}-\\w+\\s?$',
    '^(?=.*\\d)(?!.*x).{3,}$',
    '(?:ab){2}',
    '^(?<name>a+)b$',
    '^[\\d\\-.]+$',
  ],
  ...['^\\p{Lu}\\P{Lu}$', '\\u0041\\x42', '^\\u{1F600}?$', '[\\]\\\\^-]', '^(a?){3}$', '^(a*)*$'],
];
const text = fc.oneof(
  fc.string({ maxLength: 8 }),
  fc.array(fc.constantFrom(...'abcxA1-_ .😀\n]\\^'), { maxLength: 8 }).map((all) => all.join('')),
);
const matches = (pattern: string, given: string) =>
  matchesPattern(readPattern(pattern), given, new SchemaWork());

describe('a pattern of a schema', () => {
  it('is found where the language’s own expressions find it', () => {
    fc.assert(
      fc.property(fc.constantFrom(...PATTERNS), text, (pattern, given) => {
        expect(matches(pattern, given)).toBe(new RegExp(pattern, 'u').test(given));
      }),
      { numRuns: 1_000 },
    );
  });

  it('describes the texts that are written by it, each another one', () => {
    for (const pattern of [
      '^[A-Z]{3}-\\d+$',
      '^(red|green)$',
      '^[^a-z]$',
      '^#?[a-f0-9]{6}$',
      '中+',
    ]) {
      const written = [0, 1, 2, 3].map((variant) =>
        writePattern(readPattern(pattern), { variant, more: variant % 2 }, new SchemaWork()),
      );
      for (const one of written) expect(new RegExp(pattern, 'u').test(one ?? '')).toBe(true);
      if (pattern !== '中+') expect(new Set(written).size).toBeGreaterThan(1);
    }
  });

  it('that would take for ever is given up', () => {
    const evil = ['^(a+)+$', '^(a|a)*$', '^(a|aa)+$', '(x+x+)+y', '^(.*)*z$'];
    for (const pattern of evil) {
      const given = `${pattern.includes('x') ? 'x'.repeat(2_000) : 'a'.repeat(2_000)}!`;
      expect(() => matches(pattern, given)).toThrow(SchemaRefused);
    }
  });

  it('is refused where it says what is not understood, or is none', () => {
    for (const pattern of [
      '(?<=a)b',
      '(a)\\1',
      '(',
      'a)',
      '[',
      '*',
      '\\',
      '\\p{Nothing}',
      '(?i)a',
    ]) {
      expect(() => readPattern(pattern), pattern).toThrow(SchemaRefused);
    }
    expect(() => readPattern('('.repeat(100))).toThrow(SchemaRefused);
    expect(() => readPattern('a'.repeat(10_000))).toThrow('too long a pattern');
    const huge = readPattern('a{900000000}');
    expect(() => writePattern(huge, { variant: 0, more: 0 }, new SchemaWork())).toThrow('too long');
  });
});
