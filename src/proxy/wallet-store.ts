import type { Sql } from '../store/sql.ts';

/** Whose wallet an address is, lower case. */
export async function findWalletOwners(sql: Sql): Promise<ReadonlyMap<string, number>> {
  const rows = await sql<{ id: number; wallet_address: string }[]>`
    select id, wallet_address from agents where wallet_address is not null`;
  return new Map(rows.map((row) => [row.wallet_address, row.id]));
}

/** When the first agent with a wallet was made, in Unix milliseconds; undefined where there is none. */
export async function findFirstWalletMs(sql: Sql): Promise<number | undefined> {
  const [row] = await sql<{ first: Date | null }[]>`
    select min(created_at) as first from agents where wallet_address is not null`;
  return row?.first?.getTime();
}
