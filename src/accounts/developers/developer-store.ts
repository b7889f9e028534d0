import { assert } from '../../kernel/assert.ts';
import type { Queryable } from '../../platform/postgres/sql.ts';
import type { Developer } from './developer.ts';

type Row = {
  account_id: string;
  wallet: string;
  display_name: string | null;
  email: string | null;
  created_at: Date;
  session_generation: number;
  ai_tool_connected_at: Date | null;
};

const toDeveloper = (row: Row): Developer => ({
  accountId: row.account_id,
  wallet: row.wallet,
  displayName: row.display_name,
  email: row.email,
  createdAt: row.created_at,
  sessionGeneration: row.session_generation,
  aiToolConnectedAt: row.ai_tool_connected_at,
});

export async function findDeveloper(
  sql: Queryable,
  wallet: string,
): Promise<Developer | undefined> {
  const [row] = await sql<Row[]>`select * from developers where wallet = ${wallet}`;
  return row && toDeveloper(row);
}

export async function findDeveloperOfAccount(
  sql: Queryable,
  accountId: string,
): Promise<Developer | undefined> {
  const [row] = await sql<Row[]>`select * from developers where account_id = ${accountId}`;
  return row && toDeveloper(row);
}

export async function saveDisplayName(
  sql: Queryable,
  accountId: string,
  displayName: string,
): Promise<Developer> {
  const [row] = await sql<Row[]>`
    update developers set display_name = ${displayName} where account_id = ${accountId} returning *
  `;
  assert(row !== undefined, 'accounts are never deleted');
  return toDeveloper(row);
}

/**
 * Writes when AI tools first acted for accounts. An account that has a time keeps it. Rows are locked in the order of their ids,
 * so that processes never deadlock.
 */
export async function saveAiToolTimes(
  sql: Queryable,
  times: ReadonlyMap<string, number>,
): Promise<void> {
  const ids = [...times.keys()];
  const seconds = [...times.values()].map((ms) => ms / 1_000);
  await sql`
    with locked as materialized (
      select account_id from developers
      where account_id = any(${ids}::text[]) and ai_tool_connected_at is null
      order by account_id for no key update
    )
    update developers as d
    set ai_tool_connected_at = to_timestamp(u.seconds)
    from unnest(${ids}::text[], ${seconds}::float8[]) as u (id, seconds), locked
    where d.account_id = u.id and locked.account_id = u.id and d.ai_tool_connected_at is null
  `;
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
