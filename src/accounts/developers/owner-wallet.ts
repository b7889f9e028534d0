import { assert } from '../../kernel/assert.ts';
import type { Queryable } from '../../platform/postgres/sql.ts';
import { findOwnerWallet } from './developer-store.ts';

/** Returns the wallet, in lower case, of the developer who owns the account. */
export async function ownerWalletOf(sql: Queryable, accountId: string): Promise<string> {
  const wallet = await findOwnerWallet(sql, accountId);
  assert(wallet !== undefined, 'an account that something belongs to exists');
  return wallet;
}
