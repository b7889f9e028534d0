import type { Queryable } from '../../platform/postgres/sql.ts';
import type { Batch, BatchStatus } from './batch.ts';

/** Changes of a batch that its developer orders. The caller of these functions has locked the batch. */

/** Sets the status of a batch; a worker looks at the batch at once. */
export async function setStatus(
  tx: Queryable,
  batchId: string,
  status: BatchStatus,
  pausedFor: string | null = null,
): Promise<void> {
  await tx`update call_batches set status = ${status}, paused_for = ${pausedFor}, due_at = now()
    where id = ${batchId} and ended_at is null`;
}

/** From now on a batch spends with another key of its agent. */
export async function setSpender(
  tx: Queryable,
  { batchId, spender }: Pick<Batch, 'batchId' | 'spender'>,
): Promise<void> {
  await tx`update call_batches
    set request = jsonb_set(request, '{spender}', ${JSON.stringify(spender)}::text::jsonb)
    where id = ${batchId}`;
}

/** Ends the rows that wait. An outcome that a row has of an earlier call stays. */
export async function endWaiting(
  tx: Queryable,
  batchId: string,
  outcome: 'canceled' | 'expired',
): Promise<void> {
  await tx`update call_batch_rows
    set state = 'done', outcome = coalesce(outcome, ${outcome}), due_at = null
    where batch_id = ${batchId} and state = 'waiting'`;
}

/**
 * Returns the ids of the batch's calls that are not over. `unrung` leaves only calls that no carrier is known to have accepted.
 */
export async function findLiveCalls(
  sql: Queryable,
  batchId: string,
  { unrung }: { readonly unrung: boolean },
): Promise<readonly string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from calls where batch_id = ${batchId} and not terminal
      and (not ${unrung} or (carrier_call_id is null and started_at is null))`;
  return rows.map(({ id }) => id);
}
