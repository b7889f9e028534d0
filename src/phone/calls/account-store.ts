import type { Queryable, Sql } from '../../platform/postgres/sql.ts';

/** A number that is rented now, and the agent that rents it. */
export type LivingNumber = {
  readonly numberId: number;
  readonly phoneNumber: string;
  readonly agentId: number;
  readonly accountId: string;
};

export async function findLivingNumber(
  sql: Sql,
  by: { readonly agentId: number } | { readonly phoneNumber: string },
): Promise<LivingNumber | undefined> {
  const isIt =
    'agentId' in by ? sql`agent_id = ${by.agentId}` : sql`phone_number = ${by.phoneNumber}`;
  const [row] = await sql<
    { id: number; phone_number: string; agent_id: number; account_id: string }[]
  >`select id, phone_number, agent_id, account_id from phone_numbers
    where ${isIt} and status in ('active', 'grace')`;
  if (row === undefined) return undefined;
  return {
    numberId: row.id,
    phoneNumber: row.phone_number,
    agentId: row.agent_id,
    accountId: row.account_id,
  };
}

/** Returns the reason for which the phone service is off, for this account or for all. Undefined when the service is on. */
export async function findSuspension(
  sql: Queryable,
  accountId: string,
): Promise<string | undefined> {
  const [row] = await sql<{ reason: string }[]>`
    select reason from telephony_suspensions where account_id = ${accountId}
    union all select reason from telephony_stops
    limit 1`;
  return row?.reason;
}

/** Returns the wallet address of an agent in lower case, as events carry it. */
export async function findWallet(sql: Queryable, agentId: number): Promise<string | null> {
  const [row] = await sql<{ wallet_address: string | null }[]>`
    select wallet_address from agents where id = ${agentId}`;
  return row?.wallet_address?.toLowerCase() ?? null;
}
