import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ReplyLines } from '../../../../../src/phone/voice/webhook/reply-lines.ts';

function linesOf(text: string, cuts: readonly number[], maxBytes = 1_000_000): string[] {
  const bytes = Buffer.from(text);
  const reading = new ReplyLines(maxBytes);
  const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  const lines: string[] = [];
  let from = 0;
  for (const at of [...places, bytes.length]) {
    lines.push(...reading.push(bytes.subarray(from, at)));
    from = at;
  }
  return [...lines, ...reading.end()];
}

describe('the lines of a reply', () => {
  it('ReplyLines gives the same lines wherever the network cuts their bytes, within a character too', () => {
    const line = fc.string({ unit: fc.constantFrom('a', 'é', '€', '😀', '\r'), maxLength: 8 });
    const text = fc.array(line, { maxLength: 6 }).map((lines) => lines.join('\n'));
    fc.assert(
      fc.property(text, fc.array(fc.nat(200), { maxLength: 8 }), (written, cuts) => {
        const whole = written.split('\n');
        if (whole.at(-1) === '') whole.pop();
        expect(linesOf(written, cuts)).toEqual(whole);
      }),
      { numRuns: 50 },
    );
  });

  it('ReplyLines gives each line as soon as it ends', () => {
    const reading = new ReplyLines(100);
    expect(reading.push(Buffer.from('a\nb'))).toEqual(['a']);
    expect(reading.push(Buffer.from('c\n'))).toEqual(['bc']);
    expect(reading.end()).toEqual([]);
  });

  it('ReplyLines holds no more than its limit, and reports when the limit is reached', () => {
    const reading = new ReplyLines(8);
    expect(reading.push(Buffer.from('a\nbbbbbbbbbbbb\nc\n'))).toEqual(['a']);
    expect([reading.isFull, reading.push(Buffer.from('d\n')), reading.end()]).toEqual([
      true,
      [],
      ['bbbbbb'],
    ]);
  });

  it('ReplyLines copies a piece, so that its owner may overwrite the memory', () => {
    const reading = new ReplyLines(100);
    const piece = Buffer.from('abc');
    reading.push(piece);
    piece.fill(0x78);
    expect(reading.push(Buffer.from('\n'))).toEqual(['abc']);
  });
});
