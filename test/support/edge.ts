import { credentialErrors } from '../../src/accounts/errors.ts';
import type { Credentials } from '../../src/http/auth/credentials.ts';
import type { AgentCaller, DeveloperCaller } from '../../src/http/route/caller.ts';
import type { AnyRoute } from '../../src/http/route/route.ts';
import type { AnySocket } from '../../src/http/route/socket-route.ts';
import {
  createHttpServer,
  type HttpServer,
  type HttpServerDeps,
} from '../../src/http/server/app.ts';
import { createMetrics, type MetricsRegistry } from '../../src/http/server/metrics.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { silentLog } from '../../src/kernel/log.ts';
import { systemRandom } from '../../src/kernel/random.ts';
import { signatureErrors } from '../../src/platform/chain/errors.ts';
import { MessageQueue } from '../../src/platform/messages/message-queue.ts';

export const KEYS = {
  developer: 'svc_live_full',
  developerReadOnly: 'svc_live_read',
  agent: 'svc_agent',
  agentReadOnly: 'svc_read',
  otherAgent: 'svc_other',
  suspended: 'svc_suspended',
  closed: 'svc_closed',
  pending: 'svc_pending',
  expired: 'svc_expired',
  clientSecret: 'ek_good',
  admin: 'admin-secret',
  session: 'head.body.tail',
  ageingSession: 'old.body.tail',
  renewedSession: 'new.body.tail',
} as const;

const developer = (via: DeveloperCaller['via'], change: Partial<DeveloperCaller> = {}) =>
  ({
    kind: 'developer',
    via,
    accountId: 'acct_0123456789ab',
    wallet: '0x00000000000000000000000000000000000000aa',
    role: 'owner',
    keyId: via === 'developer_key' ? 1 : null,
    permission: 'read_write',
    ...change,
  }) as const;

const agent = (change: Partial<AgentCaller> = {}): AgentCaller => ({
  kind: 'agent',
  agentId: 7,
  accountId: 'acct_0123456789ab',
  keyId: 70,
  keyRootId: change.keyId ?? 70,
  permission: 'read_write',
  promptCaching: 'off',
  status: 'active',
  operatorExpiry: null,
  ...change,
});

const AGENTS: Readonly<Record<string, AgentCaller>> = {
  [KEYS.agent]: agent(),
  [KEYS.agentReadOnly]: agent({ keyId: 71, permission: 'read' }),
  [KEYS.otherAgent]: agent({ agentId: 8, keyId: 80 }),
  [KEYS.suspended]: agent({ agentId: 9, keyId: 90, status: 'suspended' }),
  [KEYS.closed]: agent({ agentId: 10, keyId: 100, status: 'closed' }),
  [KEYS.pending]: agent({ agentId: 11, keyId: 110, status: 'pending_delegation' }),
  [KEYS.expired]: agent({ agentId: 12, keyId: 120, operatorExpiry: 1_000_000_000 }),
};

const CLIENT_SECRETS: Readonly<Record<string, AgentCaller>> = {
  [KEYS.clientSecret]: agent({
    clientSecret: { use: 'realtime', model: undefined, session: undefined },
  }),
};

/** Knows the keys above and no others; a signature of `0xgood` is right. */
export const fakeCredentials: Credentials = {
  async developerKey(key) {
    if (key === KEYS.developer) return developer('developer_key');
    if (key === KEYS.developerReadOnly) {
      return developer('developer_key', { keyId: 2, permission: 'read' });
    }
    return undefined;
  },
  rememberedAgent: (key) => AGENTS[key],
  agentKey: (key) => AGENTS[key],
  clientSecret: (secret) => CLIENT_SECRETS[secret],
  async signature({ signature }) {
    if (signature !== '0xgood') throw signatureErrors.invalid();
    return developer('signature');
  },
  async session(token) {
    if (token === KEYS.session) return { caller: developer('session') };
    if (token === KEYS.ageingSession) {
      return { caller: developer('session'), renewedToken: KEYS.renewedSession };
    }
    throw credentialErrors.invalidJwt();
  },
  roleIn: async () => undefined,
  isAdminKey: (key) => key === KEYS.admin,
  isMetricsToken: () => false,
};

/** Credentials of an edge where every key of an agent is the key of this one. */
export const credentialsOf = ({
  agentId,
  keyId,
}: {
  readonly agentId: number;
  readonly keyId: number;
}): Credentials => ({
  ...fakeCredentials,
  agentKey: () => ({
    kind: 'agent',
    agentId,
    keyId,
    keyRootId: keyId,
    accountId: 'acct_1',
    permission: 'read_write',
    promptCaching: 'off',
    status: 'active',
    operatorExpiry: null,
  }),
});

export type Edge = AsyncDisposable & {
  readonly port: number;
  readonly url: string;
  readonly server: HttpServer;
  readonly metrics: MetricsRegistry;
};

type Options = Partial<Omit<HttpServerDeps<AnyRoute, AnySocket>, 'services'>> & {
  readonly services?: Readonly<Record<string, unknown>>;
};

/** The real edge on a free port, with the routes and sockets a test brings along. */
export async function startEdge({ services = {}, ...options }: Options): Promise<Edge> {
  const metrics = createMetrics({ withProcess: false });
  const server = await createHttpServer<AnyRoute, AnySocket>({
    routes: [],
    sockets: [],
    services,
    credentials: fakeCredentials,
    clock: systemClock,
    random: systemRandom,
    log: silentLog,
    metrics,
    line: new MessageQueue(options.clock ?? systemClock),
    secureCookies: false,
    ...options,
  });
  const port = await server.listen({ host: '127.0.0.1', port: 0 });
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    server,
    metrics,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
    },
  };
}

export const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
