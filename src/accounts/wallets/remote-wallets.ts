import { assert } from '../../kernel/assert.ts';
import { RecentMap } from '../../kernel/recent-map.ts';
import { recoverSigner, tokenSignature } from '../../platform/chain/account.ts';
import type { Sql } from '../../platform/postgres/sql.ts';
import {
  type Authorization,
  hashAuthorization,
  type TokenDomain,
  typedTransfer,
} from '../../x402/authorization.ts';
import { ACCOUNT_LIMITS } from '../limits.ts';
import type { ManagedWallets } from './managed-wallets.ts';
import { findRemoteWallet, insertRemoteWallet } from './remote-wallet-store.ts';
import {
  type ProvidedWallet,
  type WalletProvider,
  WalletProviderError,
} from './wallet-provider.ts';

type RemoteWalletDeps = { readonly sql: Sql; readonly provider: WalletProvider };

/** Creates the wallets that a provider holds. The database has only the provider's ids of them; each signature is verified. */
export function createRemoteWallets(deps: RemoteWalletDeps): ManagedWallets {
  const { sql, provider } = deps;
  const known = new RecentMap<string, ProvidedWallet>(ACCOUNT_LIMITS.wallet.kept);

  async function walletOf(reference: string): Promise<ProvidedWallet> {
    const wallet = known.get(reference) ?? (await findRemoteWallet(sql, reference));
    if (wallet === undefined) throw new Error(`there is no wallet for ${reference}`);
    known.set(reference, wallet);
    return wallet;
  }

  return {
    async provide(reference) {
      const stored = await findRemoteWallet(sql, reference);
      if (stored !== undefined) return stored.address;
      const externalId = externalIdOf(reference);
      // An interrupted attempt may have created the wallet: providers forget idempotency keys after a day.
      const wallet = (await provider.find(externalId)) ?? (await provider.create(externalId));
      await insertRemoteWallet(sql, reference, wallet);
      const kept = await findRemoteWallet(sql, reference);
      if (kept !== undefined) return kept.address;
      throw new WalletProviderError('the wallet that was given has another reference');
    },

    async signTransfer(reference, domain, authorization) {
      const { walletId, address } = await walletOf(reference);
      assert(authorization.from === address, 'a wallet signs for itself');
      const transfer = typedTransfer(domain, authorization);
      const signature = await provider.signTransfer(walletId, transfer);
      return requireOwn(signature, domain, authorization);
    },
  };
}

/** Returns a reference as an id that providers accept: letters, digits, `-` and `_` only. */
function externalIdOf(reference: string): string {
  const externalId = reference.replaceAll(':', '-');
  assert(/^[\w-]{1,64}$/.test(externalId), 'a reference suits a provider');
  return externalId;
}

/**
 * Returns the signature in 0x hex. Throws when another wallet made it or the token refuses it: such a signature would hold
 * funds for a payment that cannot succeed.
 */
async function requireOwn(
  signature: string,
  domain: TokenDomain,
  authorization: Authorization,
): Promise<string> {
  const bytes = tokenSignature(Buffer.from(signature.slice(2), 'hex'));
  const hash = await hashAuthorization(domain, authorization);
  if (bytes === undefined || (await recoverSigner(hash, bytes)) !== authorization.from) {
    throw new WalletProviderError('the wallet provider answered a signature of another wallet');
  }
  return `0x${Buffer.from(bytes).toString('hex')}`;
}
