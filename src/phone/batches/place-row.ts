import { ApiError } from '../../kernel/api-error.ts';
import type { Queryable } from '../../platform/postgres/sql.ts';
import type { CallDeps } from '../calls/call-deps.ts';
import { placeCall } from '../calls/place-call.ts';
import { PHONE_LIMITS } from '../limits.ts';
import { type Batch, orderOf, workIdOf } from './batch.ts';
import { setStatus } from './change-store.ts';
import { uncalled } from './plan-row.ts';
import {
  type ClaimedRow,
  changeRows,
  findOpen,
  isUncalled,
  lockBatch,
  type RowChange,
  scheduleBatch,
} from './run-store.ts';

/**
 * Places the call of a row as `POST /v1/calls` does. The work id of the attempt places one call at most, so a process that
 * takes the attempt over from a lost process finds out whether the call was placed.
 */
export async function placeRow(deps: CallDeps, batch: Batch, row: ClaimedRow): Promise<void> {
  const { batchId } = batch;
  const { attempt, request, seq } = row;
  const workId = workIdOf(batchId, seq, attempt);
  try {
    const order = orderOf(batch, request);
    await placeCall(deps, { ...order, workId, batch: { batchId, seq, attempt } });
  } catch (error) {
    // Another process takes the row up once it is overdue.
    if (!(error instanceof ApiError)) throw error;
    const verdict = await verdictOf(deps, { accountId: batch.accountId, to: request.to, error });
    await deps.sql.begin((tx) => giveUp(tx, { batchId, seq, attempt, workId }, verdict));
  }
}

type Verdict =
  | { readonly kind: 'again'; readonly inMs: number }
  | { readonly kind: 'refused'; readonly reason: string }
  /** No call of the batch can be placed now. `mayPass`: calls of it that are over give money back. */
  | { readonly kind: 'pause'; readonly reason: string; readonly mayPass: boolean };

const OF_MONEY: readonly string[] = ['insufficient_balance', 'policy_exceeded'];

/** Consequence of a refused call for its row and its batch. */
async function verdictOf(
  deps: Pick<CallDeps, 'refusalOf'>,
  {
    accountId,
    error,
    to,
  }: { readonly accountId: string; readonly to: string; readonly error: ApiError },
): Promise<Verdict> {
  const again = { kind: 'again', inMs: PHONE_LIMITS.batch.againMs } as const;
  const { error: reason, status } = error;
  if (reason === 'batch_stopped') return { ...again, inMs: 0 };
  if (status === 429 || status === 503) return again;
  if (reason === 'invalid_to_number') {
    const refusal = await deps.refusalOf(to, accountId);
    // The calling hours of the recipient ended while the call was being placed.
    const isOfHour = refusal === undefined || refusal.reason === 'calling_hours';
    return isOfHour ? { ...again, inMs: 0 } : { kind: 'refused', reason };
  }
  return { kind: 'pause', reason, mayPass: OF_MONEY.includes(reason) };
}

/** Writes what a refusal means, unless a call was written, or another process has the row. */
async function giveUp(
  tx: Queryable,
  place: {
    readonly batchId: string;
    readonly seq: number;
    readonly attempt: number;
    readonly workId: string;
  },
  verdict: Verdict,
): Promise<void> {
  const { batchId, seq } = place;
  const batch = await lockBatch(tx, batchId);
  if (batch === undefined || !(await isUncalled(tx, place))) return;
  const isStopped = batch.status === 'canceled';
  const { calling } = await findOpen(tx, batchId);
  const isWaited = verdict.kind === 'pause' && verdict.mayPass && calling > 1;
  const inMs = isWaited ? PHONE_LIMITS.batch.againMs : verdict.kind === 'again' ? verdict.inMs : 0;
  const change: RowChange =
    verdict.kind === 'refused'
      ? { ...uncalled(seq, { inMs, isStopped: true }), outcome: 'refused', reason: verdict.reason }
      : uncalled(seq, { inMs, isStopped });
  await changeRows(tx, batchId, [change]);
  if (verdict.kind === 'pause' && !isWaited && batch.status === 'running') {
    await setStatus(tx, batchId, 'paused', verdict.reason);
  } else {
    await scheduleBatch(tx, batchId, 0);
  }
}
