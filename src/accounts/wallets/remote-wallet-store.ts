import type { Queryable } from '../../platform/postgres/sql.ts';
import type { ProvidedWallet } from './wallet-provider.ts';

export async function findRemoteWallet(
  sql: Queryable,
  reference: string,
): Promise<ProvidedWallet | undefined> {
  const [row] = await sql<{ wallet_id: string; address: string }[]>`
    select wallet_id, address from remote_wallets where reference = ${reference}
  `;
  return row && { walletId: row.wallet_id, address: row.address };
}

/**
 * Does nothing where the reference has its wallet already, or the wallet another reference. No key is named: of two
 * that write the same row at once one may meet the other's wallet before its reference.
 */
export async function insertRemoteWallet(
  sql: Queryable,
  reference: string,
  { walletId, address }: ProvidedWallet,
): Promise<void> {
  await sql`
    insert into remote_wallets (reference, wallet_id, address)
    values (${reference}, ${walletId}, ${address})
    on conflict do nothing
  `;
}
