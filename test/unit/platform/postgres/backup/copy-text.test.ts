import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeRow } from '../../../../../src/platform/postgres/backup/copy-out.ts';

/** Reads COPY text by its definition, as the server does. */
const decodeRow = (line: string) =>
  line
    .slice(0, -1)
    .split('\t')
    .map((field) =>
      field === '\\N'
        ? null
        : field.replace(/\\([\s\S])/g, (_, char: string) => unescaped[char] ?? char),
    );
const unescaped: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' };

const value = fc.oneof(
  fc.constantFrom(null, '\\N', '\\.', '', '\\'),
  fc.string({ unit: fc.constantFrom('\\', '\n', '\r', '\t', 'N', '.', 'x', '✓') }),
);

describe('the text form of rows', () => {
  it('a row’s text form decodes to the same values and nulls and never ends early', () => {
    fc.assert(
      fc.property(fc.array(value, { minLength: 1 }), (values) => {
        const line = encodeRow(values);
        expect(line.indexOf('\n')).toBe(line.length - 1);
        expect(line).not.toBe('\\.\n');
        expect(decodeRow(line)).toEqual(values);
      }),
    );
  });
});
