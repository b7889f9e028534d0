import type { Sql, SqlTransaction } from '../../platform/postgres/sql.ts';
import { lockAccount } from './developer-store.ts';

/**
 * Runs work in one sql transaction that has the account's row locked, so that works which count the account's rows against a limit
 * run one after another.
 */
export async function inAccountOrder(
  sql: Sql,
  accountId: string,
  work: (tx: SqlTransaction) => Promise<void>,
): Promise<void> {
  await sql.begin(async (tx) => {
    await lockAccount(tx, accountId);
    await work(tx);
  });
}
