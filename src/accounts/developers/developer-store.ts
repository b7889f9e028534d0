import type { Queryable } from '../../platform/postgres/sql.ts';
import type { Developer } from './developer.ts';

type Row = {
  account_id: string;
  wallet: string;
  display_name: string | null;
  email: string | null;
  created_at: Date;
  session_generation: number;
};

const toDeveloper = (row: Row): Developer => ({
  accountId: row.account_id,
  wallet: row.wallet,
  displayName: row.display_name,
  email: row.email,
  createdAt: row.created_at,
  sessionGeneration: row.session_generation,
});

export async function findDeveloper(
  sql: Queryable,
  wallet: string,
): Promise<Developer | undefined> {
  const [row] = await sql<Row[]>`select * from developers where wallet = ${wallet}`;
  return row && toDeveloper(row);
}

/** Does nothing where the wallet has an account already, even when two requests come at once. */
export async function insertDeveloper(
  sql: Queryable,
  account: { readonly accountId: string; readonly wallet: string },
): Promise<void> {
  await sql`
    insert into developers (account_id, wallet) values (${account.accountId}, ${account.wallet})
    on conflict (wallet) do nothing
  `;
}

/** Serializes what counts an account's rows against a cap. The first lock that a sql transaction takes. */
export async function lockAccount(tx: Queryable, accountId: string): Promise<void> {
  await tx`select 1 from developers where account_id = ${accountId} for no key update`;
}

export async function findOwnerWallet(
  sql: Queryable,
  accountId: string,
): Promise<string | undefined> {
  const [row] = await sql<{ wallet: string }[]>`
    select wallet from developers where account_id = ${accountId}
  `;
  return row?.wallet;
}
