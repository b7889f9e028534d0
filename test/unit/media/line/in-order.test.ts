import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InOrder } from '../../../../media/line/in-order.ts';

const SILENCE = 0xff;

function ordering() {
  const heard: number[] = [];
  const line = new InOrder({
    bytesPerMs: 1,
    silence: SILENCE,
    listener: { inOrder: (bytes) => heard.push(...bytes) },
  });
  return { heard, line };
}

const chunk = (n: number) => new Uint8Array(20).fill(n);

describe('the order of a line', () => {
  it('sound chunks of a line that come a few places late, in any order or twice, are put in order', () => {
    const order = fc
      .array(fc.nat({ max: 5 }), { minLength: 1, maxLength: 60 })
      .map((delays) =>
        delays.map((delay, n) => [n + delay, n] as const).sort((a, b) => a[0] - b[0]),
      );
    fc.assert(
      fc.property(order, (chunks) => {
        const { heard, line } = ordering();
        line.push(0, chunk(200));
        for (const [, n] of chunks) {
          line.push(20 + n * 20, chunk(n));
          line.push(20 + n * 20, chunk(n));
        }
        const expected = [200, ...chunks.map(([, n]) => n).sort((a, b) => a - b)];
        expect(heard).toEqual(expected.flatMap((n) => [...chunk(n)]));
      }),
    );
  });

  it('a lost sound chunk of a line is replaced by silence', () => {
    const { heard, line } = ordering();
    line.push(0, chunk(1));
    for (let n = 2; n < 12; n++) line.push(n * 20, chunk(n));
    expect(heard.slice(20, 40)).toEqual(new Array(20).fill(SILENCE));
    expect(heard.slice(40, 60)).toEqual([...chunk(2)]);
    expect(line.counters).toEqual({ late: 0, gaps: 1 });
  });

  it('the order of a line’s sound chunks starts again where the stream’s clock jumps', () => {
    const { heard, line } = ordering();
    line.push(0, chunk(1));
    line.push(60_000, chunk(2));
    line.push(60_020, chunk(3));
    line.push(0, chunk(4));
    expect(heard).toEqual([1, 2, 3, 4].flatMap((n) => [...chunk(n)]));
  });
});
