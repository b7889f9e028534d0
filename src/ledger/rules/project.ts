import { minRaw } from '../../kernel/amount.ts';
import { type Counter, count } from '../../policy/counter.ts';
import { matches } from '../../policy/match.ts';
import type { SpendFacts } from '../../policy/policy.ts';
import type { BalanceState } from './change.ts';
import { applyCount, countHeld } from './count.ts';
import { walletFreeRaw } from './decide-payment.ts';
import type { Room, SpendReading } from './spend-state.ts';

/**
 * Returns the upper bound of one payment from the agent's wallet: the smaller of the available amount and the wallet's free
 * amount.
 */
export function payableRaw(
  state: BalanceState,
  { availableRaw }: Pick<Room, 'availableRaw'>,
): bigint {
  const leastRaw = minRaw(availableRaw, walletFreeRaw(state));
  return leastRaw > 0n ? leastRaw : 0n;
}

/**
 * Returns the upper bound of a spend with these facts. A spend without a payee is settled here and needs nothing from the
 * wallet.
 */
export function leftFor(
  state: BalanceState,
  { availableRaw }: Pick<Room, 'availableRaw'>,
  { payee }: Pick<SpendFacts, 'payee'>,
): bigint {
  if (payee !== null) return payableRaw(state, { availableRaw });
  return availableRaw > 0n ? availableRaw : 0n;
}

/**
 * Returns the reading as if one more payment were held. Nothing is checked: a payment that would be refused is held all the
 * same, and the balance may become negative.
 */
function withPayment(reading: SpendReading, facts: SpendFacts, amountRaw: bigint): SpendReading {
  const { state, rules, position, counters, teamCounters } = reading;
  const held = countHeld(rules, facts, amountRaw, { position, taskValueBps: null });
  return {
    ...reading,
    state: {
      ...state,
      spendableRaw: state.spendableRaw - amountRaw,
      heldRaw: state.heldRaw + amountRaw,
      promisedRaw: state.promisedRaw + amountRaw,
    },
    counters: held === null ? counters : applyCount(counters, held, position.buckets),
    teamCounters: rules.teamPolicies.map((policy, i) => {
      const counter = teamCounters[i] as Counter;
      if (!matches(policy, facts)) return counter;
      const bucket = position.teamBuckets[i] as number;
      return count(counter, bucket, { heldRaw: amountRaw, settledRaw: 0n });
    }),
  };
}

/**
 * Returns the reading as if one more spend with these facts were held. A spend without a payee promises nothing from the
 * wallet.
 */
export function withSpend(
  reading: SpendReading,
  facts: SpendFacts,
  amountRaw: bigint,
): SpendReading {
  const paid = withPayment(reading, facts, amountRaw);
  if (facts.payee !== null) return paid;
  const { promisedRaw } = reading.state;
  return { ...paid, state: { ...paid.state, promisedRaw } };
}
