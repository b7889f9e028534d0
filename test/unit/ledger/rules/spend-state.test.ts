import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { minRaw } from '../../../../src/kernel/amount.ts';
import { refusalOf, teamRefusalOf } from '../../../../src/ledger/rules/admit.ts';
import {
  roomFor,
  type SpendReading,
  spendStateOf,
} from '../../../../src/ledger/rules/spend-state.ts';
import { isEffective, type SpendFacts } from '../../../../src/policy/policy.ts';
import { arbitraryFacts, arbitraryReading } from '../../../support/snapshot-arbitrary.ts';

/** Whether the rules that holds are decided by let this amount through. */
function admits(
  reading: SpendReading,
  facts: SpendFacts,
  amountRaw: bigint,
  taskValueBps: number | null,
) {
  const { rules, state, counters, teamCounters, position } = reading;
  const { spendableRaw } = state;
  // Where it may go is another question than how much it may be.
  const open = { ...rules, allowlistMode: 'off' } as const;
  const demand = { keyId: 1, amountRaw, facts, taskValueBps, spendableRaw, counters };
  const refusal =
    refusalOf(open, demand, position) ?? teamRefusalOf(open, demand, position, teamCounters);
  return refusal === undefined;
}

const arbitraryValue = fc.constantFrom(null, 1, 5_000, 10_000, 25_000);

describe('roomFor', () => {
  it('roomFor is exactly the largest spend that passes, to the raw unit', () => {
    fc.assert(
      fc.property(arbitraryReading, arbitraryFacts, arbitraryValue, (reading, facts, value) => {
        const room = roomFor(reading, facts, value);
        const leastRaw = [room.availableRaw, ...room.caps.map((cap) => cap.remainingRaw)].reduce(
          minRaw,
        );
        if (leastRaw > 0n) expect(admits(reading, facts, leastRaw, value)).toBe(true);
        expect(admits(reading, facts, leastRaw + 1n, value)).toBe(false);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('standingsOf', () => {
  it('standingsOf has every policy in effect once, by id, and no other', () => {
    fc.assert(
      fc.property(arbitraryReading, (reading) => {
        const { rules, position } = reading;
        const { caps } = spendStateOf(reading);
        const expected = [...rules.policies, ...rules.teamPolicies]
          .filter((policy) => isEffective(policy, position.nowSec))
          .map(({ id }) => id)
          .sort((a, b) => a - b);
        expect(caps.map(({ policy }) => policy.id)).toEqual(expected);
      }),
    );
  });

  it('standingsOf separates free amounts from amounts reserved for tasks, neither below zero', () => {
    fc.assert(
      fc.property(arbitraryReading, (reading) => {
        const { availableRaw, reservedRaw, state } = spendStateOf(reading);
        expect(reservedRaw).toBeGreaterThanOrEqual(0n);
        expect(availableRaw).toBe(
          state.spendableRaw > reservedRaw ? state.spendableRaw - reservedRaw : 0n,
        );
      }),
    );
  });
});
