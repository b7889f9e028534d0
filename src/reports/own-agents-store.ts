import type { Queryable } from '../platform/postgres/sql.ts';

export type OwnAgent = {
  readonly id: number;
  readonly name: string;
  /** Lower case. Null until the wallet is made. */
  readonly walletAddress: string | null;
};

/** Returns all agents of an account, closed agents included. */
export async function findOwnAgents(sql: Queryable, accountId: string): Promise<OwnAgent[]> {
  return sql<OwnAgent[]>`
    select id, name, wallet_address as "walletAddress" from agents
    where account_id = ${accountId} order by id`;
}

/** Returns the agent of a key, also of a revoked one. Undefined when no agent of the account has had this key. */
export async function findKeyAgent(
  sql: Queryable,
  accountId: string,
  keyId: number,
): Promise<number | undefined> {
  const [row] = await sql<{ agentId: number }[]>`
    select k.agent_id as "agentId" from agent_keys k join agents a on a.id = k.agent_id
    where k.id = ${keyId} and a.account_id = ${accountId}`;
  return row?.agentId;
}
