import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KeptSound } from '../../../../media/line/kept-sound.ts';

describe('KeptSound', () => {
  it('KeptSound gives back all sound that was pushed and not forgotten, wherever its ring begins', () => {
    const step = fc.oneof(
      fc.record({ push: fc.uint8Array({ maxLength: 40 }) }),
      fc.record({ forget: fc.nat(60) }),
      fc.record({ copy: fc.tuple(fc.nat(120), fc.nat(60)) }),
      fc.constant({ clear: true }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const kept = new KeptSound();
        let all: number[] = [];
        let begin = 0;
        for (const one of steps) {
          if ('push' in one) {
            const bytes = Uint8Array.from(one.push);
            kept.push(bytes);
            all.push(...one.push);
            bytes.fill(0);
          } else if ('forget' in one) {
            begin = Math.min(all.length, begin + one.forget);
            kept.forget(begin);
          } else if ('copy' in one) {
            const [from, length] = one.copy;
            const expected = all.slice(Math.max(from, begin), Math.max(begin, from + length));
            expect([...kept.copy(from, from + length)]).toEqual(expected);
          } else {
            kept.clear();
            [all, begin] = [[], 0];
          }
        }
        expect([...kept.copy(begin, all.length)]).toEqual(all.slice(begin));
      }),
      { numRuns: 500 },
    );
  });
});
