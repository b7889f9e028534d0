import type { Rules } from '../../src/ledger/rules/rules.ts';
import { readAt, type SpendState, spendStateOf } from '../../src/ledger/rules/spend-state.ts';
import type { AdmittedCall } from '../../src/payments/proxy/admit-call.ts';
import type { Policy } from '../../src/policy/policy.ts';
import type { SpendStateReader } from '../../src/spend/limits/spend-state.ts';
import { ACTIVE } from './fakes/memory-ledger.ts';
import { counterOf, NOW_MS } from './snapshot-arbitrary.ts';

/** A policy and what has been settled under it. */
export type Counted = readonly [policy: Policy, settledRaw: bigint];

export type StandingsWish = {
  readonly rules?: Partial<Rules>;
  readonly spendableRaw?: bigint;
  /** As much as is spendable where it is not said. */
  readonly walletRaw?: bigint;
  readonly promisedRaw?: bigint;
  readonly own?: readonly Counted[];
  readonly team?: readonly Counted[];
};

/** An agent whose policies have counted so much each, as it stands at `NOW_MS`. */
export function standingsWith({
  rules,
  spendableRaw = 1_000n,
  walletRaw = spendableRaw,
  promisedRaw = 0n,
  own = [],
  team = [],
}: StandingsWish = {}): SpendState {
  const counters = (known: readonly Counted[]) =>
    known.map(([policy, settledRaw]) => counterOf(policy, [{ agoMs: 0, heldRaw: 0n, settledRaw }]));
  const state = {
    version: 1n,
    rulesVersion: 1n,
    spendableRaw,
    heldRaw: 0n,
    consumedRaw: 0n,
    creditedRaw: spendableRaw,
    walletRaw,
    promisedRaw,
    counters: counters(own),
  };
  const policies = own.map(([policy]) => policy);
  const teamPolicies = team.map(([policy]) => policy);
  const shared = new Map(counters(team).map((counter) => [counter.policyId, counter]));
  const snapshot = { state, rules: { ...ACTIVE, policies, teamPolicies, ...rules } };
  return spendStateOf(readAt(snapshot, NOW_MS, shared));
}

/** Answers every agent with the same state; undefined is an unknown agent. Recalls what it is set to. */
export const standingsReader = (
  spendState: SpendState | undefined,
  remembered?: SpendState,
): Pick<SpendStateReader, 'read' | 'recall'> => ({
  read: async () => spendState,
  recall: () => remembered,
});

/** A call that was admitted as its agent stood. */
export const admittedWith = (spendState: SpendState): AdmittedCall => ({
  accountId: spendState.rules.accountId,
  wallet: spendState.rules.walletAddress,
  spendState,
  view: { remembered: undefined, read: async () => spendState },
});
