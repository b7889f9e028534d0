import { createPatientRead } from '../actors/retry.ts';
import { createAdmin } from '../admin/admin.ts';
import { createAgents } from '../agents/agents.ts';
import { createLocalDelegation } from '../agents/local-delegation.ts';
import { createAttribution } from '../attribution/attribution.ts';
import { createLedgerSync } from '../attribution/ledger-sync.ts';
import { createWalletSignatures } from '../chain/wallet-signature.ts';
import { createAwareness } from '../controls/awareness.ts';
import { createControls } from '../controls/controls.ts';
import { createCreditThresholds } from '../controls/credit-thresholds.ts';
import { createStandings } from '../controls/standings.ts';
import { createAccounts } from '../developers/accounts.ts';
import { createDevelopers } from '../developers/developers.ts';
import { createSessions } from '../developers/session.ts';
import { vendorOf } from '../gateway/byok-source.ts';
import type { Teardown } from '../kernel/teardown.ts';
import { createAgentKeyBudgets } from '../keys/agent-key-budgets.ts';
import { createAgentKeys } from '../keys/agent-keys.ts';
import { createClientSecrets } from '../keys/client-secrets.ts';
import { createCredentials } from '../keys/credentials.ts';
import { createDeveloperKeys } from '../keys/developer-keys.ts';
import { createInvalidations } from '../keys/invalidations.ts';
import { createKeyUse } from '../keys/key-use.ts';
import { createProviderKeys } from '../provider-keys/provider-keys.ts';
import type { ChainParts } from './build-chain.ts';
import type { LedgerParts } from './build-ledger.ts';
import { buildPayouts } from './build-payouts.ts';
import { openWallets } from './open-wallets.ts';
import type { World } from './world.ts';

export type AccountParts = ReturnType<typeof buildAccounts>;

/** Who may come in and what they own: developers, agents, keys, and whatever checks them. */
export function buildAccounts(
  world: World,
  { ledger, time }: LedgerParts,
  chain: Pick<ChainParts, 'openRpc' | 'balances' | 'facilitator' | 'rpc'>,
  teardown: Teardown,
) {
  const { settings, sql, clock, random, log } = world;
  const { openRpc, balances } = chain;
  const { now } = time;
  const invalidations = createInvalidations({ sql, log });
  const keyUse = createKeyUse({ sql, clock });
  const accounts = createAccounts({ sql, random });
  const sessions = createSessions({ secret: settings.jwtSecret, clock });
  const wallets = openWallets(world);
  const { facilitatorPrivateKey } = settings;
  const delegation =
    facilitatorPrivateKey === undefined
      ? undefined
      : createLocalDelegation({ sql, facilitatorPrivateKey });
  const patiently = createPatientRead(world.clock);
  const standings = createStandings({ sql, ledger, now, patiently });
  const payouts = buildPayouts(world, { ledger }, { wallets, chain }, teardown);
  const agentDeps = {
    ...{ ...world, wallets, delegation, ledger, payouts },
    ...{ invalidations, balances, standings },
  };
  const clientSecrets = createClientSecrets({
    ...{ clock, random },
    hmacSecret: settings.apiKeyHmacSecret,
  });
  const keyDeps = { ...world, hmacSecret: settings.apiKeyHmacSecret, invalidations, keyUse, now };
  return {
    wallets,
    payouts,
    standings,
    keyUse,
    invalidations,
    provisioning: agentDeps,
    credentials: createCredentials({
      ...{ sql, clock, accounts, sessions, keyUse, clientSecrets },
      secrets: { apiKeyHmac: settings.apiKeyHmacSecret, adminKey: settings.adminApiKey },
      signatures: createWalletSignatures({ clock, rpc: openRpc, log }),
    }),
    services: {
      developers: createDevelopers({ ...agentDeps, accounts, sessions }),
      developerKeys: createDeveloperKeys(keyDeps),
      agentKeys: createAgentKeys(keyDeps),
      clientSecrets,
      agentKeyBudgets: createAgentKeyBudgets(keyDeps),
      providerKeys: createProviderKeys({
        ...{ ...world, keyUse, sealingSecret: settings.providerKeySecret },
        supported: world.catalogue.keyedProviders,
        vendorOf: (provider) => vendorOf(world.catalogue, provider),
      }),
      ...createControls({ sql, invalidations, now }),
      agents: createAgents(agentDeps),
      awareness: createAwareness({ sql, standings }),
      creditThresholds: createCreditThresholds({ sql, invalidations }),
      attribution: createAttribution(world),
      ledgerSync: createLedgerSync(world),
      admin: createAdmin(agentDeps),
      secureCookies: settings.environment === 'production',
    },
  };
}
