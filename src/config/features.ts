import type { Config } from './config.ts';

/** A feature that is off. Its routes answer 503 until the variables in `set` are set. */
export type FeatureOff = { readonly feature: string; readonly set: string };

type Configured = Pick<
  Config,
  'chain' | 'facilitatorPrivateKey' | 'managedWallet' | 'phone' | 'providerKeySecret'
>;

/** Returns the names of the unset variables that managed wallets of agents need. */
function missingForWallets({ managedWallet }: Configured): string[] {
  const { appId, appSecret, authorizationPrivateKey, baseUrl } = managedWallet;
  const unset = [
    ['MANAGED_WALLET_APP_ID', appId],
    ['MANAGED_WALLET_APP_SECRET', appSecret],
    ['MANAGED_WALLET_AUTHORIZATION_PRIVATE_KEY', authorizationPrivateKey],
  ].flatMap(([name, value]) => (value === undefined ? [name as string] : []));
  const needsAddress = appId !== undefined && appId !== 'local' && baseUrl === undefined;
  return needsAddress ? [...unset, 'MANAGED_WALLET_BASE_URL'] : unset;
}

/** Returns all features that are off, each with the variables that turn the feature on. */
export function featuresOff(config: Configured): readonly FeatureOff[] {
  const wallets = missingForWallets(config);
  const creation = config.facilitatorPrivateKey === undefined ? ['FACILITATOR_PRIVATE_KEY'] : [];
  const chain = config.chain.rpcUrl === undefined ? ['RPC_URL'] : [];
  const sealing = config.providerKeySecret === undefined ? ['PROVIDER_KEY_SECRET'] : [];
  const carrier =
    config.phone.carrier === 'none'
      ? ['TWILIO_ACCOUNT_SID + TWILIO_AUTH_TOKEN', 'the three TELNYX_… variables']
      : [];
  return [
    { feature: 'creating agents', set: [...wallets, ...creation].join(', ') },
    { feature: 'webhooks, stored provider keys, kept responses', set: sealing.join() },
    { feature: 'deposits and payments in USDC', set: chain.join() },
    { feature: 'phone', set: carrier.join(' or ') },
  ].filter(({ set }) => set !== '');
}
