import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LineSplitter } from '../../../../src/spend/attribution/line-splitter.ts';

const MAX = 16;

function split(pieces: readonly Uint8Array[]): string[] {
  const splitter = new LineSplitter(MAX);
  const lines: string[] = [];
  const keep = (line: Buffer | 'too_long') =>
    lines.push(line === 'too_long' ? '<too long>' : line.toString('utf8'));
  for (const piece of pieces) for (const line of splitter.push(piece)) keep(line);
  const last = splitter.end();
  if (last !== undefined) keep(last);
  return lines;
}

const cut = (bytes: Buffer, ends: readonly number[]): Buffer[] => {
  const places = [0, ...ends.map((end) => end % (bytes.length + 1)), bytes.length];
  const sorted = places.toSorted((a, b) => a - b);
  return sorted.slice(1).map((end, i) => bytes.subarray(sorted[i], end));
};

describe('lines', () => {
  it('the line splitter returns the same lines wherever the chunks end, also inside a character', () => {
    const line = fc.array(fc.constantFrom('a', 'é', '🔑', ' ', '\r'), { maxLength: 12 });
    const text = fc.array(line).map((lines) => lines.map((each) => each.join('')).join('\n'));
    fc.assert(
      fc.property(text, fc.array(fc.nat()), (whole, ends) => {
        const bytes = Buffer.from(whole);
        const expected = whole
          .split('\n')
          .map((each) => (Buffer.byteLength(each) > MAX ? '<too long>' : each));
        if (expected.at(-1) === '') expected.pop();
        expect(split(cut(bytes, ends))).toEqual(expected);
      }),
    );
  });

  it('the line splitter returns lines up to its limit and reports longer ones without their text', () => {
    const longest = 'x'.repeat(MAX);
    const text = `${longest}\n${longest}y\n${'z'.repeat(1_000)}\nend`;
    const expected = [longest, '<too long>', '<too long>', 'end'];
    expect(split([Buffer.from(text)])).toEqual(expected);
    expect(split([...text].map((each) => Buffer.from(each)))).toEqual(expected);
  });

  it('the line splitter returns no line for no bytes and an empty one between two newlines', () => {
    expect(split([])).toEqual([]);
    expect(split([Buffer.alloc(0)])).toEqual([]);
    expect(split([Buffer.from('\n\n')])).toEqual(['', '']);
  });
});
