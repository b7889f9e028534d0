import { describe, expect, it } from 'vitest';
import { holdWhatFits, largestFitting } from '../../../../src/ledger/rules/hold-what-fits.ts';
import type { HoldRefusal } from '../../../../src/ledger/rules/requests.ts';
import { policyOf } from '../../../support/spending.ts';

const capped = (availableRaw: bigint): HoldRefusal => ({
  reason: 'cap_exceeded',
  availableRaw,
  suspended: false,
  breach: { policy: policyOf(), requiredRaw: 0n, spentRaw: 0n, capRaw: 0n },
});
const poor = (availableRaw: bigint): HoldRefusal => ({
  reason: 'insufficient_balance',
  availableRaw,
  requiredRaw: 0n,
});

/** Holds a number of raw units, refused as told in turn; what is asked is kept. */
async function tryToHold(most: bigint, refusals: readonly HoldRefusal[], least?: bigint) {
  const asked: string[] = [];
  const left = [...refusals];
  const held = await holdWhatFits<
    bigint,
    { kind: 'held' } | { kind: 'refused'; refusal: HoldRefusal }
  >({
    most,
    least: least === undefined ? undefined : () => least,
    async hold(wanted, isQuiet) {
      asked.push(`${wanted}${isQuiet ? '' : '!'}`);
      const refusal = left.shift();
      return refusal === undefined ? { kind: 'held' } : { kind: 'refused', refusal };
    },
    less: (wanted, { availableRaw }) =>
      availableRaw >= (least ?? 1n) && availableRaw < wanted ? availableRaw : undefined,
  });
  return { ...held, asked };
}

describe('what fits', () => {
  it('holdWhatFits holds the whole amount where the whole amount fits', async () => {
    expect(await tryToHold(9n, [], 1n)).toMatchObject({ wanted: 9n, asked: ['9'] });
  });

  it('holdWhatFits lowers its hold to one limit after another, as each refusal names it, without consequences', async () => {
    const held = await tryToHold(9n, [poor(7n), capped(5n), capped(3n)], 1n);
    expect(held).toMatchObject({ verdict: { kind: 'held' }, wanted: 3n });
    expect(held.asked).toEqual(['9', '7', '5', '3']);
  });

  it('holdWhatFits requests the least amount with consequences where a cap leaves less', async () => {
    const { asked, verdict } = await tryToHold(9n, [capped(0n), capped(0n)], 2n);
    expect([asked, verdict.kind]).toEqual([['9', '2!'], 'refused']);
  });

  it('holdWhatFits has no consequences for a low balance, for another refusal and without a least amount', async () => {
    expect((await tryToHold(9n, [poor(0n)], 2n)).asked).toEqual(['9']);
    expect((await tryToHold(9n, [{ reason: 'agent_suspended' }], 2n)).asked).toEqual(['9']);
    expect((await tryToHold(9n, [capped(0n)])).asked).toEqual(['9']);
  });

  it('holdWhatFits stops after a bounded number of attempts while others spend', async () => {
    const refusals = Array.from({ length: 50 }, (_, n) => capped(BigInt(90 - n)));
    const { asked } = await tryToHold(100n, refusals, 1n);
    expect(asked).toHaveLength(6);
    expect(asked.at(-1)).toBe('1!');
  });

  it('largestFitting finds the largest fitting number to the unit', () => {
    expect(largestFitting({ least: 1, most: 100 }, (n) => n <= 37)).toBe(37);
    expect(largestFitting({ least: 1, most: 100 }, () => true)).toBe(100);
    expect(largestFitting({ least: 5, most: 100 }, (n) => n < 5)).toBeUndefined();
    expect(largestFitting({ least: 5, most: 4 }, () => true)).toBeUndefined();
  });
});
