import { assert } from '../kernel/assert.ts';
import type { Random } from '../kernel/random.ts';
import type { Sql } from '../store/sql.ts';
import { findWallet, insertWallet } from './local-wallet-store.ts';
import type { ManagedWallets } from './managed-wallets.ts';
import { deriveWalletKey, sealKey } from './wallet-key.ts';

/** Wallets that this server holds itself: derived from one key, kept encrypted under another. */
export function createLocalWallets(deps: {
  readonly sql: Sql;
  readonly random: Random;
  /** MANAGED_WALLET_AUTHORIZATION_PRIVATE_KEY: whoever has it has every wallet. */
  readonly authorizationKey: string;
  /** MANAGED_WALLET_APP_SECRET: what the stored keys are encrypted under. */
  readonly appSecret: string;
}): ManagedWallets {
  return {
    async provide(reference) {
      const known = await findWallet(deps.sql, reference);
      if (known !== undefined) return known.address;
      const { privateKey, address } = await deriveWalletKey(deps.authorizationKey, reference);
      const sealedKey = sealKey(deps.appSecret, reference, privateKey, deps.random);
      await insertWallet(deps.sql, reference, { address, sealedKey });
      const stored = await findWallet(deps.sql, reference);
      assert(stored?.address === address, 'a reference has one wallet');
      return address;
    },
  };
}
