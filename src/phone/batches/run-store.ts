import { numberArray, textArray } from '../../platform/postgres/pg-array.ts';
import type { Queryable, Sql } from '../../platform/postgres/sql.ts';
import type { Call } from '../calls/call.ts';
import { PHONE_LIMITS } from '../limits.ts';
import type { Batch, Recipient, RecipientOutcome } from './batch.ts';
import { type BatchRow, batchColumns, batchOf } from './batch-store.ts';

/** Reads and writes of the batch worker. Times are those of the database's clock. */

/**
 * Takes batches that are due: no other process gets them for `claimMs`. Agents have turns, however many batches each of them
 * has.
 */
export async function claimDueBatches(
  sql: Sql,
  limit: number,
): Promise<readonly { readonly batchId: string; readonly agentId: number }[]> {
  const { claimMs } = PHONE_LIMITS.batch;
  return sql<{ batchId: string; agentId: number }[]>`
    with ranked as (
      select id, row_number() over (partition by agent_id order by due_at, id) as turn
      from call_batches where due_at <= now()
    ), due as (
      select b.id from call_batches b join ranked r on r.id = b.id
      where b.due_at <= now()
      order by r.turn, b.due_at limit ${limit} for no key update of b skip locked)
    update call_batches b set due_at = now() + ${claimMs} * interval '1 millisecond'
    from due where b.id = due.id
    returning b.id as "batchId", b.agent_id as "agentId"`;
}

/** Locks a batch that is not over. */
export async function lockBatch(tx: Queryable, batchId: string): Promise<Batch | undefined> {
  const [row] = await tx<BatchRow[]>`
    select ${batchColumns(tx)} from call_batches
    where id = ${batchId} and ended_at is null for no key update`;
  return row && batchOf(row);
}

/** A row that is called, and the call of its latest attempt. */
export type CallingRow = {
  readonly seq: number;
  /** No call was written in time. */
  readonly isOverdue: boolean;
  readonly callId: string | null;
  readonly isOver: boolean | null;
  readonly status: Call['status'] | null;
  readonly endReason: Call['endReason'];
  /** Number of the row's calls that rang. */
  readonly calls: number;
};

export async function findCallingRows(
  tx: Queryable,
  batchId: string,
): Promise<readonly CallingRow[]> {
  return tx<CallingRow[]>`
    select r.seq, r.due_at <= now() as "isOverdue", c.id as "callId", c.terminal as "isOver", c.status,
      c.end_reason as "endReason",
      (select count(*)::int from calls k where k.batch_id = r.batch_id and k.batch_row = r.seq
        and k.end_reason is distinct from 'dial_canceled') as calls
    from call_batch_rows r
    left join calls c on c.work_id = r.batch_id || '.' || r.seq::text || '.' || r.attempts::text
    where r.batch_id = ${batchId} and r.state = 'calling'`;
}

/** Next state of a row that was called. */
export type RowChange = {
  readonly seq: number;
  readonly state: 'waiting' | 'done';
  readonly callId: string | null;
  readonly outcome: RecipientOutcome | null;
  readonly reason: string | null;
  readonly inMs: number;
};

/** Writes the new states of rows, and adds the cost of their calls, including the charges of the calls' models. */
export async function changeRows(
  tx: Queryable,
  batchId: string,
  changes: readonly RowChange[],
): Promise<void> {
  if (changes.length === 0) return;
  await tx`
    update call_batch_rows r set state = n.state, call_id = coalesce(n.call_id, r.call_id),
      outcome = coalesce(n.outcome, r.outcome), reason = coalesce(n.reason, r.reason),
      due_at = case when n.state = 'waiting' then now() + n.in_ms * interval '1 millisecond' end,
      cost_raw = r.cost_raw + coalesce((
        select sum(c.cost_raw)::bigint from calls k join charges c on c.agent_id = k.agent_id
          and c.created_at >= k.created_at and c.session_id = k.id
        where k.id = n.call_id and k.started_at is not null), 0)
    from unnest(${numberArray(changes.map(({ seq }) => seq))}::int[],
      ${textArray(changes.map(({ state }) => state))}::text[],
      ${textArray(changes.map(({ callId }) => callId))}::text[],
      ${textArray(changes.map(({ outcome }) => outcome))}::text[],
      ${textArray(changes.map(({ reason }) => reason))}::text[],
      ${numberArray(changes.map(({ inMs }) => inMs))}::int[])
      as n(seq, state, call_id, outcome, reason, in_ms)
    where r.batch_id = ${batchId} and r.seq = n.seq and r.state = 'calling'`;
}

/** Returns waiting rows that are due, the longest waiting first. */
export async function findReadyRows(
  tx: Queryable,
  batchId: string,
  limit: number,
): Promise<readonly { readonly seq: number; readonly to: string }[]> {
  return tx<{ seq: number; to: string }[]>`
    select seq, request ->> 'to' as to from call_batch_rows
    where batch_id = ${batchId} and state = 'waiting' and due_at <= now()
    order by due_at, seq limit ${limit}`;
}

/** Rows that wait wait until an instant. */
export async function putOffRows(
  tx: Queryable,
  batchId: string,
  seqs: readonly number[],
  until: Date,
): Promise<void> {
  if (seqs.length === 0) return;
  await tx`update call_batch_rows set due_at = ${until}
    where batch_id = ${batchId} and seq = any (${numberArray(seqs)}::int[]) and state = 'waiting'`;
}

/** A row that this process is to call. */
export type ClaimedRow = {
  readonly seq: number;
  readonly attempt: number;
  readonly request: Recipient;
};

/** Begins another attempt of rows that wait. */
export async function claimRows(
  tx: Queryable,
  batchId: string,
  seqs: readonly number[],
): Promise<readonly ClaimedRow[]> {
  if (seqs.length === 0) return [];
  return tx<ClaimedRow[]>`
    update call_batch_rows set state = 'calling', attempts = attempts + 1,
      due_at = now() + ${PHONE_LIMITS.batch.lostMs} * interval '1 millisecond'
    where batch_id = ${batchId} and seq = any (${numberArray(seqs)}::int[]) and state = 'waiting'
    returning seq, attempts as attempt, request`;
}

/**
 * Returns true when this attempt of the row has no call and may be given up. False when its call was written, or another
 * process has the row.
 */
export async function isUncalled(
  tx: Queryable,
  {
    attempt,
    batchId,
    seq,
    workId,
  }: {
    readonly batchId: string;
    readonly seq: number;
    readonly attempt: number;
    readonly workId: string;
  },
): Promise<boolean> {
  const rows = await tx`
    select 1 from call_batch_rows
    where batch_id = ${batchId} and seq = ${seq} and attempts = ${attempt} and state = 'calling'
      and not exists (select from calls where work_id = ${workId})`;
  return rows.length === 1;
}

/**
 * Counts the rows that are not done (`open`) and the rows that are being called. `nextInMs` is the milliseconds until the first
 * waiting row is due.
 */
export async function findOpen(
  tx: Queryable,
  batchId: string,
): Promise<{ readonly open: number; readonly calling: number; readonly nextInMs: number | null }> {
  const [row] = await tx<{ open: number; calling: number; nextInMs: number | null }[]>`
    select count(*)::int as open, count(*) filter (where state = 'calling')::int as calling,
      (extract(epoch from min(due_at) filter (where state = 'waiting') - now()) * 1000)::float8 as "nextInMs"
    from call_batch_rows where batch_id = ${batchId} and state <> 'done'`;
  return row ?? { open: 0, calling: 0, nextInMs: null };
}

/** When a process looks at a batch again. */
export async function scheduleBatch(tx: Queryable, batchId: string, inMs: number): Promise<void> {
  await tx`update call_batches set due_at = now() + ${inMs} * interval '1 millisecond'
    where id = ${batchId} and ended_at is null`;
}

/** Marks a batch as over. */
export async function endBatch(
  tx: Queryable,
  batchId: string,
  status: 'canceled' | 'completed',
): Promise<void> {
  await tx`update call_batches set status = ${status}, paused_for = null, due_at = null, ended_at = now()
    where id = ${batchId}`;
}
