import { type Batch, outcomeOf, retryAfter } from './batch.ts';
import type { CallingRow, RowChange } from './run-store.ts';

/** Facts that decide the plan of a row. */
export type RowTerms = Pick<Batch, 'retries'> & {
  /** True when the batch places no further calls. */
  readonly isStopped: boolean;
};

/**
 * Returns the change for a row whose latest attempt did not ring: another attempt, or `canceled` when the batch places no
 * further call.
 */
export const uncalled = (
  seq: number,
  { inMs, isStopped }: { readonly inMs: number; readonly isStopped: boolean },
): RowChange =>
  isStopped
    ? { seq, state: 'done', callId: null, outcome: 'canceled', reason: null, inMs: 0 }
    : { seq, state: 'waiting', callId: null, outcome: null, reason: null, inMs };

/** Returns the next state of a row that is being called. Undefined while its call continues or is being placed. */
export function planRow({ isStopped, retries }: RowTerms, row: CallingRow): RowChange | undefined {
  const { callId, calls, endReason, isOver, isOverdue, seq, status } = row;
  if (callId === null || status === null) {
    return isOverdue ? uncalled(seq, { inMs: 0, isStopped }) : undefined;
  }
  if (isOver !== true) return undefined;
  const outcome = outcomeOf({ endReason, status });
  if (outcome === undefined) return uncalled(seq, { inMs: 0, isStopped });
  const waitSeconds = isStopped ? undefined : retryAfter(retries, outcome, calls);
  const ended = { seq, callId, outcome, reason: endReason };
  return waitSeconds === undefined
    ? { ...ended, state: 'done', inMs: 0 }
    : { ...ended, state: 'waiting', inMs: waitSeconds * 1_000 };
}
