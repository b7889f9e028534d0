import type { Queryable, Sql } from '../../../platform/postgres/sql.ts';
import type { RateCard } from '../../rate-card.ts';
import type { BatchPlace, NewCall } from '../call.ts';
import type { StoredRates } from '../call-store.ts';

/** Calls at a time of an agent, and of its account. */
export type CallCounts = { readonly agent: number; readonly account: number };

export type FullLine = {
  readonly kind: 'full';
  readonly of: keyof CallCounts;
  readonly limit: number;
  readonly active: number;
};

/** The batch of the call is paused or over, or another process has taken the row of the batch over. */
export type StoppedBatch = { readonly kind: 'stopped' };

/**
 * Writes a call, unless it exceeds the limit of its agent or its account; `usual` holds the default limits. Calls of an account
 * are written one after another, so that two processes cannot exceed the limit together. A call of a batch is written only
 * while the batch runs and the attempt is the latest of its row.
 */
export async function insertCall(
  sql: Sql,
  call: NewCall,
  usual: CallCounts,
): Promise<{ readonly kind: 'written' } | FullLine | StoppedBatch> {
  return sql.begin(async (tx) => {
    await tx`select 1 from developers where account_id = ${call.accountId} for no key update`;
    const full = await findFullLine(tx, call, usual);
    if (full !== undefined) return full;
    if (call.batch !== undefined && !(await isWanted(tx, call.batch))) return { kind: 'stopped' };
    await tx`
      insert into calls (id, agent_id, account_id, number_id, carrier, carrier_call_id, direction,
        from_number, to_number, status, key_id, task_id, task_value_bps, action_id, customer_id,
        max_spend_raw, rates, options, due_at, work_id, batch_id, batch_row)
      values (${call.callId}, ${call.agentId}, ${call.accountId}, ${call.numberId}, ${call.carrier},
        ${call.carrierCallId}, ${call.direction}, ${call.from}, ${call.to}, 'pending', ${call.keyId},
        ${call.taskId}, ${call.taskValueBps}, ${call.actionId}, ${call.customerId},
        ${call.maxSpendRaw.toString()}, ${tx.json(storeRates(call.rates))}, ${tx.json(call.options)},
        now() + ${call.dueInMs} * interval '1 millisecond', ${call.workId ?? null},
        ${call.batch?.batchId ?? null}, ${call.batch?.seq ?? null})`;
    return { kind: 'written' };
  });
}

/** Returns true when the batch still wants this attempt. Locks the batch: a change of it waits until the call is written. */
async function isWanted(tx: Queryable, { attempt, batchId, seq }: BatchPlace): Promise<boolean> {
  const [batch] = await tx<{ status: string }[]>`
    select status from call_batches where id = ${batchId} for share`;
  if (batch?.status !== 'running') return false;
  const rows = await tx`
    select 1 from call_batch_rows
    where batch_id = ${batchId} and seq = ${seq} and state = 'calling' and attempts = ${attempt}`;
  return rows.length === 1;
}

async function findFullLine(
  tx: Queryable,
  call: NewCall,
  usual: CallCounts,
): Promise<FullLine | undefined> {
  const lines = await findLines(tx, call, usual);
  const full = lines.find(({ active, limit }) => active >= limit);
  return full && { ...full, kind: 'full' };
}

/** Returns the limit of concurrent calls of an agent and of its account, and the number of calls under way. */
export async function findLines(
  tx: Queryable,
  { accountId, agentId }: Pick<NewCall, 'accountId' | 'agentId'>,
  usual: CallCounts,
): Promise<readonly Omit<FullLine, 'kind'>[]> {
  return tx<Omit<FullLine, 'kind'>[]>`
    select 'agent' as of,
      coalesce((select calls_at_once from voice_settings where agent_id = ${agentId}), ${usual.agent})::int as limit,
      (select count(*)::int from calls where agent_id = ${agentId} and not terminal) as active
    union all select 'account',
      coalesce((select calls from call_limits where account_id = ${accountId}), ${usual.account})::int,
      (select count(*)::int from calls where account_id = ${accountId} and not terminal)`;
}

const storeRates = (card: RateCard): StoredRates =>
  Object.fromEntries(
    Object.entries(card).map(([name, value]) => [
      name,
      typeof value === 'bigint' ? `${value}` : value,
    ]),
  ) as StoredRates;
