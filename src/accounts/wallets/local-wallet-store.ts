import type { Queryable } from '../../platform/postgres/sql.ts';

export type StoredWallet = { readonly address: string; readonly sealedKey: Uint8Array };

export async function findWallet(
  sql: Queryable,
  reference: string,
): Promise<StoredWallet | undefined> {
  const [row] = await sql<{ address: string; sealed_key: Uint8Array }[]>`
    select address, sealed_key from managed_wallets where reference = ${reference}
  `;
  return row && { address: row.address, sealedKey: row.sealed_key };
}

/** Inserts a wallet. Does nothing when the reference already has a wallet. */
export async function insertWallet(
  sql: Queryable,
  reference: string,
  wallet: StoredWallet,
): Promise<void> {
  await sql`
    insert into managed_wallets (reference, address, sealed_key)
    values (${reference}, ${wallet.address}, ${Buffer.from(wallet.sealedKey)})
    on conflict (reference) do nothing
  `;
}
