import type { Queryable, Sql } from '../../platform/postgres/sql.ts';

/** Returns the agents by the lower-case addresses of their wallets. */
export async function findWalletOwners(sql: Sql): Promise<ReadonlyMap<string, number>> {
  const rows = await sql<{ id: number; wallet_address: string }[]>`
    select id, wallet_address from agents where wallet_address is not null`;
  return new Map(rows.map((row) => [row.wallet_address, row.id]));
}

/** Returns the creation time of the first agent with a wallet, in Unix milliseconds. Undefined when there is no such agent. */
export async function findFirstWalletMs(sql: Sql): Promise<number | undefined> {
  const [row] = await sql<{ first: Date | null }[]>`
    select min(created_at) as first from agents where wallet_address is not null`;
  return row?.first?.getTime();
}

/** Returns the amounts credited for groups of deposits, by reference (`<group>:<number>`). */
export async function findCredited(
  sql: Queryable,
  groups: readonly string[],
): Promise<ReadonlyMap<string, bigint>> {
  const rows = await sql<{ id: string; raw: bigint }[]>`
    select p.id, p.asked_raw as raw from unnest(${[...groups]}::text[]) as g(name)
    join postings p on p.id >= ${CREDIT} || g.name || ':' and p.id < ${CREDIT} || g.name || ';'`;
  return new Map(rows.map(({ id, raw }) => [id.slice(CREDIT.length), raw]));
}

/** Prefix of the posting ids of credits. */
const CREDIT = 'credit:';
