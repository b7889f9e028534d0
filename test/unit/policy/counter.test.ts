import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { count, emptyCounter, rollTo, spentRaw } from '../../../src/policy/counter.ts';

const step = fc.record({
  ahead: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 5 }), fc.integer({ min: 0, max: 200 })),
  behind: fc.integer({ min: 0, max: 3 }),
  heldRaw: fc.bigInt({ min: -50n, max: 50n }),
  settledRaw: fc.bigInt({ min: 0n, max: 1_000n }),
});

describe('a counter', () => {
  it('a policy’s counter agrees with a list of all settlements in each bucket', () => {
    fc.assert(
      fc.property(fc.constantFrom(1, 60), fc.array(step, { maxLength: 60 }), (span, steps) => {
        let counter = emptyCounter(7, span);
        let now = 1_000;
        let heldRaw = 0n;
        let newest = 0;
        const settled: { bucket: number; raw: bigint }[] = [];
        for (const { ahead, behind, ...by } of steps) {
          now += ahead;
          // Two processes do not agree to the millisecond: what is late counts where the newest is.
          const bucket = now - behind;
          counter = count(counter, bucket, by);
          heldRaw += by.heldRaw;
          if (by.settledRaw > 0n) {
            newest = Math.max(newest, bucket);
            settled.push({ bucket: newest, raw: by.settledRaw });
          }
          const from = Math.max(now, newest) - span + 1;
          const sum = settled.reduce(
            (all, { bucket: b, raw }) => (b >= from ? all + raw : all),
            0n,
          );
          expect(spentRaw(counter, now)).toBe(sum + heldRaw);
          expect(counter.settledRaw).toBe(counter.buckets.reduce((all, raw) => all + raw, 0n));
        }
      }),
    );
  });

  it('a policy’s counter is never changed in place', () => {
    const before = count(emptyCounter(1, 60), 5, { heldRaw: 3n, settledRaw: 4n });
    const copy = structuredClone(before);
    rollTo(before, 500);
    count(before, 6, { heldRaw: 1n, settledRaw: 1n });
    expect(before).toEqual(copy);
  });
});
