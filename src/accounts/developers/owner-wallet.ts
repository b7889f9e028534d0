import { assert } from '../../kernel/assert.ts';
import type { Queryable } from '../../platform/postgres/sql.ts';
import { findOwnerWallet } from './developer-store.ts';

/** The wallet of the developer whose account it is, lower case. */
export async function ownerWalletOf(sql: Queryable, accountId: string): Promise<string> {
  const wallet = await findOwnerWallet(sql, accountId);
  assert(wallet !== undefined, 'an agent belongs to an account');
  return wallet;
}
