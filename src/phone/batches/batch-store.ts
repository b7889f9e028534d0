import { turnForLongWork } from '../../kernel/long-work.ts';
import { storableJson } from '../../kernel/storable.ts';
import { textArray } from '../../platform/postgres/pg-array.ts';
import type { Queryable, Sql } from '../../platform/postgres/sql.ts';
import type { CallOwner } from '../calls/calls.ts';
import { PHONE_LIMITS } from '../limits.ts';
import type {
  Batch,
  BatchCursor,
  BatchStatus,
  NewBatch,
  RecipientOutcome,
  RecipientStatus,
  StandingRecipient,
} from './batch.ts';

/** JSON has no large integers. */
type StoredRequest = Pick<
  Batch,
  'name' | 'callingHours' | 'maxConcurrent' | 'retries' | 'startAtMs' | 'spender'
> & { readonly shared: Omit<Batch['shared'], 'maxSpendRaw'> & { readonly maxSpendRaw?: string } };

export type BatchRow = {
  id: string;
  agent_id: number;
  account_id: string;
  request: StoredRequest;
  status: BatchStatus;
  paused_for: string | null;
  created_at: Date;
  ended_at: Date | null;
};

export const batchColumns = (sql: Queryable) =>
  sql`id, agent_id, account_id, request, status, paused_for, created_at, ended_at`;

export function batchOf(row: BatchRow): Batch {
  const { shared, ...terms } = row.request;
  const { maxSpendRaw } = shared;
  return {
    ...terms,
    shared: {
      ...shared,
      maxSpendRaw: maxSpendRaw === undefined ? undefined : BigInt(maxSpendRaw),
    },
    batchId: row.id,
    agentId: row.agent_id,
    accountId: row.account_id,
    status: row.status,
    pausedFor: row.paused_for,
    createdAt: row.created_at,
    endedAt: row.ended_at,
  };
}

function storedRequest(batch: NewBatch): StoredRequest {
  const { callingHours, maxConcurrent, name, retries, shared, spender, startAtMs } = batch;
  const { maxSpendRaw, ...order } = shared;
  return {
    callingHours,
    maxConcurrent,
    name,
    retries,
    spender,
    startAtMs,
    shared: { ...order, ...(maxSpendRaw !== undefined && { maxSpendRaw: `${maxSpendRaw}` }) },
  };
}

/** `lost`: the process was taken for dead, and the work under its `Idempotency-Key` may be another process's by now. */
export type WrittenBatch = 'written' | 'too_many' | 'lost';

/**
 * Writes a batch and its recipients in one commit, unless its agent has too many that are not over. The commit takes the
 * ledger's id of the work, so that a process which was taken for dead writes nothing, and its heir finds what was written.
 */
export async function insertBatch(sql: Sql, batch: NewBatch): Promise<WrittenBatch> {
  const { accountId, agentId, batchId, recipients, startAtMs, workId } = batch;
  const { openPerAgent, perTurn } = PHONE_LIMITS.batch;
  const startAt = new Date(startAtMs);
  return sql.begin(async (tx): Promise<WrittenBatch> => {
    if (workId !== undefined && !(await takeWork(tx, agentId, workId))) return 'lost';
    // Batches of an agent are written one after another, so that two processes do not count past each other.
    await tx`select 1 from agents where id = ${agentId} for no key update`;
    const [open] = await tx<{ batches: number }[]>`
      select count(*)::int as batches from call_batches where agent_id = ${agentId} and ended_at is null`;
    if ((open?.batches ?? 0) >= openPerAgent) return 'too_many';
    await tx`
      insert into call_batches (id, agent_id, account_id, work_id, request, status, due_at)
      values (${batchId}, ${agentId}, ${accountId}, ${workId ?? null},
        ${storableJson(storedRequest(batch))}::text::jsonb, 'running', ${startAt})`;
    for (let at = 0; at < recipients.length; at += perTurn) {
      await turnForLongWork();
      const rows = recipients.slice(at, at + perTurn).map((row) => storableJson(row));
      await tx`
        insert into call_batch_rows (batch_id, seq, request, state, due_at)
        select ${batchId}, ${at}::int + row.place::int - 1, row.request::jsonb, 'waiting', ${startAt}
        from unnest(${textArray(rows)}::text[]) with ordinality as row(request, place)`;
    }
    return 'written';
  });
}

/** Takes the id of a hold of the work. False: another process has taken it, or holds money under it. */
async function takeWork(tx: Queryable, agentId: number, workId: string): Promise<boolean> {
  const rows = await tx`
    insert into postings (id, agent_id, code, asked_raw, debits, credits, amounts)
    values (${`hold:${workId}`}, ${agentId}, 'hold.void', 0, '{}', '{}', '{}')
    on conflict (id) do nothing returning 1`;
  return rows.length === 1;
}

/** Returns the batch that the request with this `Idempotency-Key` ordered. */
export async function findBatchOfWork(
  sql: Sql,
  agentId: number,
  workId: string,
): Promise<Batch | undefined> {
  const [row] = await sql<BatchRow[]>`
    select ${batchColumns(sql)} from call_batches
    where work_id = ${workId} and agent_id = ${agentId}`;
  return row && batchOf(row);
}

const isOf = (sql: Queryable, owner: CallOwner) =>
  'agentId' in owner ? sql`agent_id = ${owner.agentId}` : sql`account_id = ${owner.accountId}`;

/** Returns a batch of an owner; `lock` locks its row until the end of the sql transaction. */
export async function findBatch(
  sql: Queryable,
  owner: CallOwner,
  batchId: string,
  { lock = false } = {},
): Promise<Batch | undefined> {
  const [row] = await sql<BatchRow[]>`
    select ${batchColumns(sql)} from call_batches where id = ${batchId} and ${isOf(sql, owner)}
    ${lock ? sql`for no key update` : sql``}`;
  return row && batchOf(row);
}

/** A page of batches that is asked for. */
export type BatchesWanted = {
  readonly after: BatchCursor | undefined;
  readonly limit: number;
  /** Status by which batches are filtered. Undefined: every status. */
  readonly status?: BatchStatus | undefined;
};

/** Returns the owner's batches after the cursor, latest first. */
export async function findBatches(
  sql: Sql,
  owner: CallOwner,
  { after, limit, status }: BatchesWanted,
): Promise<readonly (Batch & BatchCursor)[]> {
  const behind =
    after === undefined
      ? sql``
      : sql`and (created_at, id) < (
          timestamptz 'epoch' + ${after.madeAtMicros}::bigint * interval '1 microsecond', ${after.batchId})`;
  const rows = await sql<(BatchRow & { micros: bigint })[]>`
    select ${batchColumns(sql)}, (extract(epoch from created_at) * 1000000)::bigint as micros
    from call_batches where ${isOf(sql, owner)} ${behind}
      ${status === undefined ? sql`` : sql`and status = ${status}`}
    order by created_at desc, id desc limit ${limit}`;
  return rows.map((row) => ({ ...batchOf(row), madeAtMicros: `${row.micros}` }));
}

/** Recipients of one batch that stand alike, and the cost of their calls that are over. */
export type BatchCount = {
  readonly batchId: string;
  readonly state: RecipientStatus;
  readonly outcome: RecipientOutcome | null;
  readonly recipients: number;
  readonly costRaw: bigint;
};

export async function countRecipients(
  sql: Queryable,
  batchIds: readonly string[],
): Promise<readonly BatchCount[]> {
  return sql<BatchCount[]>`
    select batch_id as "batchId", state, case when state = 'done' then outcome end as outcome,
      count(*)::int as recipients, sum(cost_raw)::bigint as "costRaw"
    from call_batch_rows where batch_id = any (${textArray(batchIds)}::text[])
    group by 1, 2, 3`;
}

/** Returns the recipients of a batch whose index is above `after`, in the order of the request. */
export async function findRecipients(
  sql: Sql,
  batchId: string,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<readonly StandingRecipient[]> {
  return sql<StandingRecipient[]>`
    select r.seq as index, r.request ->> 'to' as to, r.state as status, r.outcome, r.reason,
      k.calls, k.latest as "callId", r.cost_raw as "costRaw",
      case when r.state = 'waiting' then r.due_at end as "notBefore"
    from call_batch_rows r cross join lateral (
      select count(*)::int as calls, (array_agg(c.id order by c.created_at desc))[1] as latest
      from calls c where c.batch_id = r.batch_id and c.batch_row = r.seq
        and c.end_reason is distinct from 'dial_canceled') k
    where r.batch_id = ${batchId} and r.seq > ${after}
    order by r.seq limit ${limit}`;
}
