import type { Agent } from '../../accounts/agents/agent.ts';
import { giveWelcomeCredit } from '../../accounts/agents/welcome-credit.ts';
import { createAccounts } from '../../accounts/developers/accounts.ts';
import { createAiTools } from '../../accounts/developers/ai-tools.ts';
import { createSessions } from '../../accounts/developers/session.ts';
import { createClientSecrets } from '../../accounts/keys/client-secrets.ts';
import { createCredentials } from '../../accounts/keys/credentials.ts';
import { createDeveloperKeys } from '../../accounts/keys/developer-keys.ts';
import { createInvalidations } from '../../accounts/keys/invalidations.ts';
import { createKeyUse } from '../../accounts/keys/key-use.ts';
import { createAdmin } from '../../accounts/management/admin.ts';
import { createAgentKeyBudgets } from '../../accounts/management/agent-key-budgets.ts';
import { createAgentKeys } from '../../accounts/management/agent-keys.ts';
import { createAgents } from '../../accounts/management/agents.ts';
import { createDevelopers } from '../../accounts/management/developers.ts';
import { createInvites } from '../../accounts/management/team/invites.ts';
import { createTeam } from '../../accounts/management/team/team.ts';
import { createProviderKeys } from '../../accounts/provider-keys/provider-keys.ts';
import { createLocalDelegation } from '../../accounts/wallets/local-delegation.ts';
import type { Teardown } from '../../kernel/teardown.ts';
import { createRetryingRead } from '../../ledger/engine/retry.ts';
import { forgetAtClose } from '../../memory/tenants.ts';
import { vendorOf } from '../../models/catalogue/byok-source.ts';
import { forgetResponsesAtClose } from '../../models/responses/kept/forget-responses.ts';
import { releaseAtClose } from '../../phone/numbers/wind-down.ts';
import { createWalletSignatures } from '../../platform/chain/wallet-signature.ts';
import { createMailer } from '../../platform/mail/mailer.ts';
import type { Queryable } from '../../platform/postgres/sql.ts';
import { createAttribution } from '../../spend/attribution/attribution.ts';
import { createLedgerSync } from '../../spend/attribution/ledger-sync.ts';
import { createAwareness } from '../../spend/awareness/awareness.ts';
import { createCreditThresholds } from '../../spend/awareness/credit-thresholds.ts';
import { createSpendStateReader } from '../../spend/limits/spend-state.ts';
import { createControls } from '../../spend/policies/controls.ts';
import type { ChainParts } from './build-chain.ts';
import type { LedgerParts } from './build-ledger.ts';
import { openWallets } from './open-wallets.ts';
import { buildPayouts } from './payments/build-payouts.ts';
import type { World } from './world.ts';

export type AccountParts = ReturnType<typeof buildAccounts>;

/** Builds authentication and its subjects: developers, agents and keys. */
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
  const aiTools = createAiTools({ sql, clock });
  const accounts = createAccounts({ sql, random });
  const sessions = createSessions({ secret: settings.jwtSecret, clock });
  const wallets = openWallets(world);
  const { facilitatorPrivateKey } = settings;
  const delegation =
    facilitatorPrivateKey === undefined
      ? undefined
      : createLocalDelegation({ sql, facilitatorPrivateKey });
  const retrying = createRetryingRead(world.clock);
  const spendState = createSpendStateReader({ sql, ledger, now, retrying });
  const payouts = buildPayouts(world, { ledger }, { wallets, chain }, teardown);
  const agentDeps = {
    ...world,
    wallets,
    delegation,
    ledger,
    payouts,
    welcome: settings.welcomeCredit
      ? (agent: Pick<Agent, 'id' | 'accountId'>) => giveWelcomeCredit({ ledger, sql }, agent)
      : undefined,
    invalidations,
    balances,
    spendState,
    async windDown(tx: Queryable, agentId: number) {
      await releaseAtClose(tx, agentId, new Date(now()));
      await forgetAtClose(tx, agentId);
      await forgetResponsesAtClose(tx, agentId);
    },
  };
  const clientSecrets = createClientSecrets({
    clock,
    random,
    hmacSecret: settings.apiKeyHmacSecret,
  });
  const keyDeps = { ...world, hmacSecret: settings.apiKeyHmacSecret, invalidations, keyUse, now };
  return {
    wallets,
    payouts,
    spendState,
    keyUse,
    aiTools,
    invalidations,
    provisioning: agentDeps,
    credentials: createCredentials({
      sql,
      clock,
      accounts,
      sessions,
      keyUse,
      clientSecrets,
      secrets: {
        apiKeyHmac: settings.apiKeyHmacSecret,
        adminKey: settings.adminApiKey,
        metricsToken: settings.metricsToken,
      },
      signatures: createWalletSignatures({ clock, rpc: openRpc, log }),
    }),
    services: {
      developers: createDevelopers({ ...agentDeps, accounts, aiTools, sessions }),
      developerKeys: createDeveloperKeys(keyDeps),
      team: createTeam({ ...world, invalidations, now }),
      invites: createInvites({
        ...world,
        hmacSecret: settings.apiKeyHmacSecret,
        publicUrl: settings.publicUrl,
        mailer: settings.mail && createMailer({ ...world, ...settings.mail }),
      }),
      agentKeys: createAgentKeys(keyDeps),
      clientSecrets,
      agentKeyBudgets: createAgentKeyBudgets(keyDeps),
      providerKeys: createProviderKeys({
        ...world,
        keyUse,
        sealingSecret: settings.providerKeySecret,
        supported: world.catalogue.keyedProviders,
        vendorOf: (provider) => vendorOf(world.catalogue, provider),
      }),
      ...createControls({ sql, invalidations, now }),
      agents: createAgents(agentDeps),
      awareness: createAwareness({ sql, spendState }),
      creditThresholds: createCreditThresholds({ sql, invalidations }),
      attribution: createAttribution(world),
      ledgerSync: createLedgerSync(world),
      admin: createAdmin(agentDeps),
      secureCookies: settings.environment === 'production',
    },
  };
}
