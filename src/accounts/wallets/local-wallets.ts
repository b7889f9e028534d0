import { assert } from '../../kernel/assert.ts';
import type { Random } from '../../kernel/random.ts';
import { RecentMap } from '../../kernel/recent-map.ts';
import { openSealed, seal } from '../../kernel/seal.ts';
import { addressOfPrivateKey, signHash } from '../../platform/chain/account.ts';
import type { Sql } from '../../platform/postgres/sql.ts';
import { hashAuthorization } from '../../x402/authorization.ts';
import { ACCOUNT_LIMITS } from '../limits.ts';
import { findWallet, insertWallet } from './local-wallet-store.ts';
import type { ManagedWallets } from './managed-wallets.ts';
import { deriveWalletKey, type WalletKey } from './wallet-key.ts';

type LocalWalletDeps = {
  readonly sql: Sql;
  readonly random: Random;
  /** MANAGED_WALLET_AUTHORIZATION_PRIVATE_KEY, from which every wallet's key is derived: its holder controls every wallet. */
  readonly authorizationKey: string;
  /** MANAGED_WALLET_APP_SECRET, which encrypts the stored wallet keys. */
  readonly appSecret: string;
};

/** Creates the wallets that this server holds itself: derived from one key, and stored encrypted with another. */
export function createLocalWallets(deps: LocalWalletDeps): ManagedWallets {
  const opened = new RecentMap<string, WalletKey>(ACCOUNT_LIMITS.wallet.kept);

  async function keyOf(reference: string): Promise<WalletKey> {
    const key = opened.get(reference) ?? (await openStoredKey(deps, reference));
    opened.set(reference, key);
    return key;
  }

  return {
    async provide(reference) {
      const known = await findWallet(deps.sql, reference);
      if (known !== undefined) return known.address;
      const { privateKey, address } = await deriveWalletKey(deps.authorizationKey, reference);
      const sealedKey = seal(deps.appSecret, reference, privateKey, deps.random);
      await insertWallet(deps.sql, reference, { address, sealedKey });
      const stored = await findWallet(deps.sql, reference);
      assert(stored?.address === address, 'a reference has one wallet');
      return address;
    },

    async signTransfer(reference, domain, authorization) {
      const { privateKey, address } = await keyOf(reference);
      assert(authorization.from === address, 'a wallet signs for itself');
      return signHash(await hashAuthorization(domain, authorization), privateKey);
    },
  };
}

async function openStoredKey(deps: LocalWalletDeps, reference: string): Promise<WalletKey> {
  const stored = await findWallet(deps.sql, reference);
  if (stored === undefined) throw new Error(`there is no wallet for ${reference}`);
  const { address, sealedKey } = stored;
  const privateKey = openSealed(deps.appSecret, reference, sealedKey);
  assert((await addressOfPrivateKey(privateKey)) === address, 'a stored key is of its address');
  return { address, privateKey };
}
