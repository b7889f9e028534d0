import { createAccounts } from '../../src/accounts/developers/accounts.ts';
import { createAiTools } from '../../src/accounts/developers/ai-tools.ts';
import { createSessions } from '../../src/accounts/developers/session.ts';
import { createClientSecrets } from '../../src/accounts/keys/client-secrets.ts';
import { createCredentials } from '../../src/accounts/keys/credentials.ts';
import { createDeveloperKeys } from '../../src/accounts/keys/developer-keys.ts';
import { createInvalidations } from '../../src/accounts/keys/invalidations.ts';
import { createKeyUse } from '../../src/accounts/keys/key-use.ts';
import { createAdmin } from '../../src/accounts/management/admin.ts';
import { createAgentKeyBudgets } from '../../src/accounts/management/agent-key-budgets.ts';
import { createAgentKeys } from '../../src/accounts/management/agent-keys.ts';
import { createAgents } from '../../src/accounts/management/agents.ts';
import { createDevelopers } from '../../src/accounts/management/developers.ts';
import { createInvites } from '../../src/accounts/management/team/invites.ts';
import { createTeam } from '../../src/accounts/management/team/team.ts';
import { createProviderKeys } from '../../src/accounts/provider-keys/provider-keys.ts';
import type { Delegation } from '../../src/accounts/wallets/delegation.ts';
import { createLocalDelegation } from '../../src/accounts/wallets/local-delegation.ts';
import { createLocalWallets } from '../../src/accounts/wallets/local-wallets.ts';
import type { ManagedWallets } from '../../src/accounts/wallets/managed-wallets.ts';
import type { Credentials } from '../../src/http/auth/credentials.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { type Log, silentLog } from '../../src/kernel/log.ts';
import { systemRandom } from '../../src/kernel/random.ts';
import type { Ledger } from '../../src/ledger/rules/ledger.ts';
import type { Payouts } from '../../src/payments/payouts/payouts.ts';
import type { CallRpc } from '../../src/platform/chain/rpc.ts';
import { createUsdcBalances } from '../../src/platform/chain/usdc-balances.ts';
import { createWalletSignatures } from '../../src/platform/chain/wallet-signature.ts';
import type { Mailer } from '../../src/platform/mail/mailer.ts';
import type { Sql } from '../../src/platform/postgres/sql.ts';
import { createAttribution } from '../../src/spend/attribution/attribution.ts';
import { createLedgerSync } from '../../src/spend/attribution/ledger-sync.ts';
import { createControls } from '../../src/spend/policies/controls.ts';
import { createFakeLedger } from './fake-ledger.ts';
import { standingsOfFunds } from './fakes/funds-standings.ts';
import { ManualClock } from './manual-clock.ts';
import { type TestWallet, testWallet } from './wallet.ts';

export const ADMIN_KEY = 'admin-key-of-the-tests';
const SEALING_SECRET = 'sealing secret of the tests';

export type AccountsWorld = ReturnType<typeof accountsWorld>;

type Overrides = {
  readonly clock?: ManualClock;
  readonly log?: Log;
  readonly rpc?: CallRpc;
  readonly ledger?: Ledger;
  readonly wallets?: ManagedWallets | undefined;
  readonly delegation?: Delegation | undefined;
  readonly payouts?: Pick<Payouts, 'payNow'>;
  readonly sealingSecret?: string | undefined;
  readonly mailer?: Mailer;
  /** Every provider takes keys of its own, as before vendors were told from providers. */
  readonly keysByProvider?: boolean;
};

/** Everything about accounts on one database, as one process has it. A second call is a second process. */
export function accountsWorld(sql: Sql, overrides: Overrides = {}) {
  const clock = overrides.clock ?? new ManualClock();
  const log = overrides.log ?? silentLog;
  const random = systemRandom;
  const hmacSecret = 'hmac secret of the tests';
  const invalidations = createInvalidations({ sql, log });
  const keyUse = createKeyUse({ sql, clock });
  const aiTools = createAiTools({ sql, clock });
  const accounts = createAccounts({ sql, random });
  const sessions = createSessions({ secret: 'session secret of the tests, long enough', clock });
  const { rpc } = overrides;
  const balances = createUsdcBalances({ rpc, usdc: `0x${'11'.repeat(20)}`, clock, log });
  const credentials = createCredentials({
    sql,
    clock,
    secrets: { apiKeyHmac: hmacSecret, adminKey: ADMIN_KEY },
    accounts,
    sessions,
    signatures: createWalletSignatures({ clock, rpc, log }),
    keyUse,
    clientSecrets: createClientSecrets({ hmacSecret, clock, random }),
  });
  invalidations.subscribe(credentials.forget);
  // Of the database, which no test moves.
  const { now } = systemClock;
  const keyDeps = { sql, clock, random, hmacSecret, invalidations, keyUse, now };
  const localWallets = createLocalWallets({
    sql,
    random,
    authorizationKey: 'authorization key of the tests',
    appSecret: 'app secret of the tests',
  });
  const localDelegation = createLocalDelegation({
    sql,
    facilitatorPrivateKey: testWallet('facilitator').privateKey,
  });
  const ledger = overrides.ledger ?? ledgerWithEmptyAccounts();
  const spendState = standingsOfFunds(ledger);
  const agentsDeps = {
    sql,
    clock,
    random,
    log,
    wallets: 'wallets' in overrides ? overrides.wallets : localWallets,
    delegation: 'delegation' in overrides ? overrides.delegation : localDelegation,
    ledger,
    payouts: overrides.payouts ?? { payNow: async () => {} },
    invalidations,
    balances,
    spendState,
    windDown: async () => {},
  };
  return {
    sql,
    clock,
    accounts,
    sessions,
    invalidations,
    keyUse,
    agentsDeps,
    localWallets,
    localDelegation,
    // What the edge asks for is what the rooms give: the compiler checks it here.
    credentials: credentials satisfies Credentials,
    developers: createDevelopers({ ...agentsDeps, accounts, aiTools, sessions }),
    developerKeys: createDeveloperKeys(keyDeps),
    aiTools,
    team: createTeam(keyDeps),
    invites: createInvites({ ...keyDeps, log, publicUrl: undefined, mailer: overrides.mailer }),
    agentKeys: createAgentKeys(keyDeps),
    agentKeyBudgets: createAgentKeyBudgets(keyDeps),
    providerKeys: createProviderKeys({
      sql,
      clock,
      random,
      log,
      keyUse,
      ...(overrides.keysByProvider
        ? { supported: ['openai', 'openai-realtime'], vendorOf: (provider) => provider }
        : {
            supported: ['anthropic', 'openai'],
            vendorOf: (provider) => provider.replace(/-realtime$/, ''),
          }),
      sealingSecret: 'sealingSecret' in overrides ? overrides.sealingSecret : SEALING_SECRET,
    }),
    ...createControls({ sql, invalidations, now }),
    agents: createAgents(agentsDeps),
    attribution: createAttribution({ sql }),
    ledgerSync: createLedgerSync({ sql }),
    admin: createAdmin(agentsDeps),
    ledger,

    /** The account of a wallet, as a credential would tell it. */
    async owner(name: string): Promise<TestWallet & { accountId: string; wallet: string }> {
      const wallet = testWallet(name);
      const { accountId } = await accounts.ofWallet(wallet.address);
      return { ...wallet, accountId, wallet: wallet.address };
    },
  };
}

/** The fake knows an agent from its first credit on; here every agent has a balance from the start. */
function ledgerWithEmptyAccounts(): Ledger {
  const fake = createFakeLedger();
  return {
    ...fake,
    funds: async (agentId) => (await fake.funds(agentId)) ?? { spendableRaw: 0n, heldRaw: 0n },
  };
}

/** What a create body says where the test does not care. */
export const agentWish = (name: string, more: { borrowLimitRaw?: bigint } = {}) => ({
  name,
  maxRateBps: 1_000,
  expirySeconds: 3_600,
  ...more,
});
