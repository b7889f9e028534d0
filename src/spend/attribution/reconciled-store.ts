import type { Queryable, Sql } from '../../platform/postgres/sql.ts';
import { SPEND_LIMITS } from '../limits.ts';
import type { SpendEvent } from './spend-event.ts';

/** Event with the key that identifies it when it is uploaded again. */
export type ReconciledRow = SpendEvent & { readonly digest: string };

/** Stores events of an agent and returns the number of new events. Stores all or, when it throws, none. */
export async function saveReconciled(
  sql: Sql,
  agentId: number,
  rows: readonly ReconciledRow[],
): Promise<number> {
  // All uploads insert in the same order, so that overlapping uploads wait for each other without a deadlock.
  const sorted = rows.toSorted((a, b) => (a.digest < b.digest ? -1 : 1));
  return sql.begin(async (tx) => {
    let added = 0;
    for (let from = 0; from < sorted.length; from += SPEND_LIMITS.sync.rowsPerInsert) {
      added += await insertRows(
        tx,
        agentId,
        sorted.slice(from, from + SPEND_LIMITS.sync.rowsPerInsert),
      );
    }
    return added;
  }) as Promise<number>;
}

async function insertRows(
  tx: Queryable,
  agentId: number,
  rows: readonly ReconciledRow[],
): Promise<number> {
  const column = <T>(of: (row: ReconciledRow) => T) => rows.map(of) as string[];
  const [counted] = await tx<{ added: number }[]>`
    with added as (
      insert into reconciled_events
        (agent_id, digest, at, kind, model_or_tool, cost_raw, prompt_tokens, completion_tokens, label)
      select ${agentId}::int, rows.*
      from unnest(
        ${column(({ digest }) => digest)}::text[],
        ${column(({ atMicros }) => isoMicros(atMicros))}::text[]::timestamptz[],
        ${column(({ kind }) => kind)}::text[],
        ${column(({ modelOrTool }) => modelOrTool)}::text[],
        ${column(({ costRaw }) => costRaw.toString())}::bigint[],
        ${column(({ promptTokens }) => promptTokens)}::int[],
        ${column(({ completionTokens }) => completionTokens)}::int[],
        ${column(({ label }) => label)}::text[]) as rows
      on conflict (agent_id, digest) do nothing
      returning agent_id, at, cost_raw),
    noted as (
      insert into reconciled_changes (agent_id, day, source, host, customer, task, calls, cost_raw)
      select agent_id, (at at time zone 'UTC')::date, 'guard', '', '', '', count(*), sum(cost_raw)
      from added group by 1, 2)
    select count(*)::integer as added from added
  `;
  return counted?.added ?? 0;
}

function isoMicros(micros: number): string {
  const toMillisecond = new Date(Math.floor(micros / 1_000)).toISOString().slice(0, -1);
  return `${toMillisecond}${String(micros % 1_000).padStart(3, '0')}Z`;
}
