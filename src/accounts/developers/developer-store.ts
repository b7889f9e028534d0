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

/** Inserts an account. Does nothing when the wallet already has an account, even when two requests insert at once. */
export async function insertDeveloper(
  sql: Queryable,
  account: { readonly accountId: string; readonly wallet: string },
): Promise<void> {
  await sql`
    insert into developers (account_id, wallet) values (${account.accountId}, ${account.wallet})
    on conflict (wallet) do nothing
  `;
}

/**
 * Locks an account's row, so that transactions that count the account's rows against a limit run one after another. Always the
 * first lock of a transaction.
 */
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
