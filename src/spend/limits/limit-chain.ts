import { isoTime } from '../../kernel/clock.ts';
import type { Room, SpendState } from '../../ledger/rules/spend-state.ts';
import { type CapState, tightestOf } from '../../policy/evaluate.ts';

/** One limit of an agent, in the form for its developer. */
export type ChainRow = ReturnType<typeof capRow> | ReturnType<typeof balanceRow>;

/** Returns all limits of an agent now: the caps in effect by policy id, then the balance. */
export const limitChain = (spendState: SpendState): ChainRow[] => [
  ...spendState.caps.map(capRow),
  balanceRow(spendState, spendState.availableRaw),
];

/** Returns the limit that leaves the least for a spending. The balance is reported when no cap leaves less. */
export function bindingOf(spendState: SpendState, room: Room) {
  const { availableRaw } = room;
  const tightest = tightestOf(room.caps);
  if (tightest === undefined || tightest.remainingRaw > availableRaw) {
    return { remainingRaw: availableRaw, row: balanceRow(spendState, availableRaw) };
  }
  return { remainingRaw: tightest.remainingRaw, row: capRow(tightest) };
}

/** Returns the row of a cap. Its limit is the present effective cap, not the limit given at its creation. */
const capRow = ({ policy, capRaw, spentRaw, remainingRaw, windowResetsAtMs }: CapState) => ({
  scope: policy.agentId === null ? ('developer' as const) : ('agent' as const),
  kind: policy.kind,
  label: policy.label,
  policyId: policy.id,
  matchKey: policy.matchKey,
  limitRaw: capRaw.toString(),
  spentRaw: spentRaw.toString(),
  remainingRaw: remainingRaw.toString(),
  windowKind: policy.window.kind,
  windowResetsAt: windowResetsAtMs === null ? null : isoTime(windowResetsAtMs),
});

/** Row of the balance: the limit is all money ever credited. Money kept for tasks is no part of `remainingRaw`. */
const balanceRow = ({ state }: SpendState, remainingRaw: bigint) => ({
  scope: 'balance' as const,
  kind: null,
  label: null,
  policyId: null,
  matchKey: null,
  limitRaw: state.creditedRaw.toString(),
  spentRaw: (state.consumedRaw + state.heldRaw).toString(),
  remainingRaw: remainingRaw.toString(),
  windowKind: null,
  windowResetsAt: null,
});
