import type { Queryable } from '../store/sql.ts';

/** What `agent_funds` says of many agents at once. */
export async function findSpendableOf(
  sql: Queryable,
  agentIds: readonly number[],
): Promise<ReadonlyMap<number, bigint>> {
  const rows = await sql<{ agent_id: number; spendable_raw: bigint }[]>`
    select agent_id, spendable_raw from agent_funds
    where agent_id = any (${agentIds as number[]}::int[])
  `;
  return new Map(rows.map((row) => [row.agent_id, row.spendable_raw]));
}
