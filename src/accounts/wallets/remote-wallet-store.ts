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
 * Inserts a wallet. Does nothing when its reference or its wallet id is stored already. `on conflict` names no column, because
 * concurrent inserts of one row may conflict in either.
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
