import type { Clock } from '../../kernel/clock.ts';
import { BRAND } from '../../kernel/ids.ts';
import { isReservedAddress } from '../../platform/chain/reserved-address.ts';
import type { WalletSignatures } from '../../platform/chain/wallet-signature.ts';
import type { Sql } from '../../platform/postgres/sql.ts';
import type { Accounts } from '../developers/accounts.ts';
import { findRole } from '../developers/role-store.ts';
import type { Sessions } from '../developers/session.ts';
import { findSessionAccount } from '../developers/session-store.ts';
import { credentialErrors } from '../errors.ts';
import { createAgentKeyCache } from './agent-key-cache.ts';
import { findAgentByDigest, type KnownAgentKey } from './agent-key-store.ts';
import type { ClientSecrets } from './client-secrets.ts';
import { findDeveloperByDigest } from './developer-key-store.ts';
import type { Notice } from './invalidation.ts';
import type { KeyUse } from './key-use.ts';
import { keyedHash, sameSecret } from './keyed-hash.ts';

const DEVELOPER_KEY = new RegExp(`^${BRAND.developerKeyPrefix}[0-9A-Za-z]{40}$`);
const AGENT_KEY = new RegExp(`^${BRAND.agentKeyPrefix}[0-9a-f]{64}$`);

type Deps = {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly secrets: {
    readonly apiKeyHmac: string;
    readonly adminKey: string | undefined;
    readonly metricsToken?: string | undefined;
  };
  readonly accounts: Accounts;
  readonly sessions: Sessions;
  readonly signatures: WalletSignatures;
  readonly keyUse: KeyUse;
  readonly clientSecrets: Pick<ClientSecrets, 'open'>;
};

/**
 * Identifies the caller of a request, for every kind of credential. A text that has no form of a key costs no query, nor does
 * an agent key in the cache, which `forget` clears on a change.
 */
export function createCredentials(deps: Deps) {
  const { sql, clock, secrets, keyUse } = deps;
  const agentKeys = createAgentKeyCache({
    clock,
    load: (digest) => findAgentByDigest(sql, digest),
  });
  const hash = (key: string) => keyedHash(secrets.apiKeyHmac, key);

  const agent = (known: KnownAgentKey | undefined) => {
    if (known === undefined) return undefined;
    keyUse.touch('agent', known.keyId);
    return agentCaller(known);
  };

  return {
    async developerKey(key: string) {
      if (!DEVELOPER_KEY.test(key)) return undefined;
      const known = await findDeveloperByDigest(sql, hash(key), new Date(clock.now()));
      if (known === undefined || isReservedAddress(known.wallet)) return undefined;
      keyUse.touch('developer', known.keyId);
      const { accountId, wallet, role, keyId, permissions: permission } = known;
      const via = 'developer_key';
      return { kind: 'developer', via, accountId, wallet, role, keyId, permission } as const;
    },

    rememberedAgent: (key: string) =>
      AGENT_KEY.test(key) ? agent(agentKeys.remembered(hash(key))) : undefined,

    agentKey(key: string) {
      if (!AGENT_KEY.test(key)) return undefined;
      const found = agentKeys.find(hash(key));
      return found instanceof Promise ? found.then(agent) : agent(found);
    },

    clientSecret(secret: string) {
      const opened = deps.clientSecrets.open(secret);
      if (opened === undefined) return undefined;
      const { digest, ...clientSecret } = opened;
      const granted = (known: KnownAgentKey | undefined) => {
        const caller = agent(known);
        return caller && { ...caller, clientSecret };
      };
      const found = agentKeys.find(digest);
      return found instanceof Promise ? found.then(granted) : granted(found);
    },

    async signature(proof: { wallet: string; signature: string; timestamp: string }) {
      const { accountId, wallet } = await deps.accounts.ofWallet(
        await deps.signatures.check(proof),
      );
      return walletCaller('signature', accountId, wallet);
    },

    session: (token: string) => readSession(deps, token),

    roleIn: (accountId: string, wallet: string) => findRole(sql, accountId, wallet),

    isAdminKey: (key: string): boolean =>
      secrets.adminKey !== undefined && sameSecret(key, secrets.adminKey),

    isMetricsToken: (key: string): boolean =>
      secrets.metricsToken !== undefined && sameSecret(key, secrets.metricsToken),

    /** Drops cached keys that a notice is about. To be subscribed to the invalidations. */
    forget: (notice: Notice): void => agentKeys.forget(notice),
  };
}

/** Reads a session and its account with every request, so that no process accepts a session that another process has ended. */
async function readSession({ sessions, sql }: Pick<Deps, 'sessions' | 'sql'>, token: string) {
  const session = await sessions.read(token);
  if (session === undefined || isReservedAddress(session.wallet)) {
    throw credentialErrors.invalidJwt();
  }
  const accountId = await findSessionAccount(sql, session);
  if (accountId === undefined) throw credentialErrors.invalidJwt();
  const caller = {
    ...walletCaller('session', accountId, session.wallet),
    sessionId: session.id,
  };
  return session.pastHalf ? { caller, renewedToken: await sessions.issue(session) } : { caller };
}

const agentCaller = (known: KnownAgentKey) =>
  ({
    kind: 'agent',
    agentId: known.agentId,
    accountId: known.accountId,
    keyId: known.keyId,
    keyRootId: known.keyRootId,
    permission: known.permissions,
    promptCaching: known.promptCaching,
    status: known.status,
    hasMoney: known.hasMoney,
    operatorExpiry: known.operatorExpiry,
  }) as const;

/** Returns a wallet, signed in by signature or session, as the owner of its own account. */
const walletCaller = (via: 'signature' | 'session', accountId: string, wallet: string) =>
  ({
    kind: 'developer',
    via,
    accountId,
    wallet,
    role: 'owner',
    keyId: null,
    permission: 'read_write',
  }) as const;
