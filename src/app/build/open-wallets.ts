import { createLocalWallets } from '../../accounts/wallets/local-wallets.ts';
import type { ManagedWallets } from '../../accounts/wallets/managed-wallets.ts';
import { createRemoteWallets } from '../../accounts/wallets/remote-wallets.ts';
import { readSigningKey } from '../../accounts/wallets/request-signature.ts';
import { createWalletProvider } from '../../accounts/wallets/wallet-provider.ts';
import { ConfigError } from '../../config/config-error.ts';
import type { World } from './world.ts';

/** Opens the provider of agent wallets. Undefined when a setting is missing, which the server reports at its start. */
export function openWallets(
  world: Pick<World, 'settings' | 'sql' | 'random' | 'fetch'>,
): ManagedWallets | undefined {
  const { sql, random, fetch } = world;
  const { appId, appSecret, authorizationPrivateKey, baseUrl, headerPrefix } =
    world.settings.managedWallet;
  if (appId === undefined || appSecret === undefined || authorizationPrivateKey === undefined) {
    return undefined;
  }
  if (appId === 'local') {
    return createLocalWallets({
      sql,
      random,
      authorizationKey: authorizationPrivateKey,
      appSecret,
    });
  }
  if (baseUrl === undefined) return undefined;
  const signingKey = readSigningKey(authorizationPrivateKey);
  if (signingKey === undefined) {
    throw new ConfigError(
      'MANAGED_WALLET_AUTHORIZATION_PRIVATE_KEY must be a P-256 private key, PKCS#8 in base64 or PEM',
    );
  }
  const provider = createWalletProvider({
    baseUrl,
    appId,
    appSecret,
    signingKey,
    headerPrefix,
    fetch,
  });
  return createRemoteWallets({ sql, provider });
}
