import type { Queryable } from '../../platform/postgres/sql.ts';

/** Line of an agent's statement, which is one posting. */
export type StatementLine = {
  readonly id: string;
  readonly code: string;
  readonly debits: readonly string[];
  readonly credits: readonly string[];
  readonly amounts: readonly bigint[];
};

/** Returns the first `limit` postings of an agent, in order. They are all that ever happened to its money. */
export async function readStatement(
  sql: Queryable,
  agentId: number,
  limit: number,
): Promise<readonly StatementLine[]> {
  return sql<StatementLine[]>`
    select id, code, debits, credits, amounts from postings
    where agent_id = ${agentId} order by at, id limit ${limit}`;
}

export type ChargeLine = {
  readonly targetUrl: string;
  readonly costRaw: bigint;
  readonly usage: Readonly<Record<string, number>>;
};

/** Returns the purchases of an agent, oldest first, at most `limit` rows. */
export async function readCharges(
  sql: Queryable,
  agentId: number,
  limit: number,
): Promise<readonly ChargeLine[]> {
  return sql<ChargeLine[]>`
    select target_url as "targetUrl", cost_raw as "costRaw", usage from charges
    where agent_id = ${agentId} order by id limit ${limit}`;
}
