import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { refusalOf, teamRefusalOf } from '../../../../src/ledger/rules/admit.ts';
import { payableRaw, withSpend } from '../../../../src/ledger/rules/project.ts';
import { roomFor, type SpendReading } from '../../../../src/ledger/rules/spend-state.ts';
import type { SpendFacts } from '../../../../src/policy/policy.ts';
import { arbitraryFacts, arbitraryReading } from '../../../support/snapshot-arbitrary.ts';

/** Why the ledger would refuse a payment, as it decides one: undefined is held. */
function refusalOfPayment(reading: SpendReading, facts: SpendFacts, amountRaw: bigint) {
  const { rules, state, counters, teamCounters, position } = reading;
  const demand = {
    keyId: 1,
    amountRaw,
    facts,
    taskValueBps: null,
    counters,
    spendableRaw: state.spendableRaw,
    walletFreeRaw: state.walletRaw - state.promisedRaw,
  };
  // Where it may go is another question than how much it may be.
  const open = { ...rules, allowlistMode: 'off' } as const;
  return refusalOf(open, demand, position) ?? teamRefusalOf(open, demand, position, teamCounters);
}

const arbitraryRaw = fc.bigInt({ min: 1n, max: 60n });

const arbitraryWallet = fc.record({
  walletRaw: fc.bigInt({ min: 0n, max: 200n }),
  promisedRaw: fc.bigInt({ min: 0n, max: 60n }),
});

const inWallet = (reading: SpendReading, wallet: { walletRaw: bigint; promisedRaw: bigint }) => ({
  ...reading,
  state: { ...reading.state, ...wallet },
});

describe('payableRaw', () => {
  it('payableRaw is exactly the largest payment that the balance and the wallet allow', () => {
    fc.assert(
      fc.property(arbitraryReading, arbitraryWallet, arbitraryFacts, (drawn, wallet, facts) => {
        const reading = inWallet(drawn, wallet);
        const mostRaw = payableRaw(reading.state, roomFor(reading, facts, null));
        expect(mostRaw).toBeGreaterThanOrEqual(0n);
        const reason = (amountRaw: bigint) => refusalOfPayment(reading, facts, amountRaw)?.reason;
        if (mostRaw > 0n) expect(reason(mostRaw)).not.toBe('insufficient_balance');
        expect(reason(mostRaw + 1n)).toBe('insufficient_balance');
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('withSpend', () => {
  it('withSpend leaves the state after one payment: two payments that fit in turn fit as their sum', () => {
    fc.assert(
      fc.property(
        arbitraryReading,
        arbitraryWallet,
        arbitraryFacts,
        arbitraryRaw,
        arbitraryRaw,
        (drawn, wallet, drawnFacts, firstRaw, nextRaw) => {
          const reading = inWallet(drawn, wallet);
          const facts = { ...drawnFacts, payee: drawnFacts.payee ?? '0xaa' };
          if (refusalOfPayment(reading, facts, firstRaw) !== undefined) return;
          const after = withSpend(reading, facts, firstRaw);
          const apart = refusalOfPayment(after, facts, nextRaw);
          const together = refusalOfPayment(reading, facts, firstRaw + nextRaw);
          // What is kept for the task itself is used up first, and is spendable either way.
          expect(apart === undefined).toBe(together === undefined);
        },
      ),
      { numRuns: 3_000 },
    );
  });

  it('withSpend leaves the wallet unchanged for a spend without a payee', () => {
    fc.assert(
      fc.property(arbitraryReading, arbitraryFacts, arbitraryRaw, (reading, facts, amountRaw) => {
        const sold = withSpend(reading, { ...facts, payee: null }, amountRaw);
        expect(sold.state.promisedRaw).toBe(reading.state.promisedRaw);
        expect(sold.state.heldRaw).toBe(reading.state.heldRaw + amountRaw);
        const paid = withSpend(reading, { ...facts, payee: '0xaa' }, amountRaw);
        expect(paid.state.promisedRaw).toBe(reading.state.promisedRaw + amountRaw);
      }),
    );
  });

  it('withSpend changes nothing of the state that it was given', () => {
    fc.assert(
      fc.property(arbitraryReading, arbitraryFacts, (reading, facts) => {
        const before = structuredClone(reading);
        withSpend(reading, facts, 5n);
        expect(reading).toEqual(before);
      }),
      { numRuns: 50 },
    );
  });
});
