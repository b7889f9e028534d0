import { z } from 'zod';
import { LIMITS } from './kernel/limits.ts';
import { LOG_LEVELS } from './kernel/log.ts';
import { realPath } from './kernel/real-path.ts';

/** A setting that the server refuses to start with. The message names the variable. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

const flag = z
  .string()
  .optional()
  .transform((text) => text === '1' || text === 'true');
const list = z
  .string()
  .optional()
  .transform((text) =>
    (text ?? '')
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== ''),
  );
const address = z.string().regex(/^0x[0-9a-fA-F]{40}$/, 'must be a 0x address');
const privateKey = z.string().regex(/^0x[0-9a-fA-F]{64}$/, 'must be 0x and 64 hex digits');
/** A variable that is set to nothing is not set. */
const unlessEmpty = <T extends z.ZodType>(schema: T) =>
  z.preprocess((value) => (value === '' ? undefined : value), schema);
const optional = <T extends z.ZodType>(schema: T) => unlessEmpty(schema.optional());

const Environment = z.object({
  NODE_ENV: unlessEmpty(z.enum(['development', 'test', 'production']).default('development')),
  PORT: optional(z.string()),
  HOST: optional(z.string()),
  DATABASE_URL: optional(z.string()),
  JWT_SECRET: optional(z.string()),
  API_KEY_HMAC_SECRET: optional(z.string()),
  ADMIN_API_KEY: optional(z.string()),
  PROVIDER_KEY_SECRET: optional(z.string().min(32, 'must have at least 32 characters')),
  RPC_URL: optional(z.url()),
  INDEXER_HTTP_ENDPOINT: optional(z.url()),
  INDEXER_API_TOKEN: optional(z.string()),
  INDEXER_ADMIN_SECRET: optional(z.string()),
  MANAGED_WALLET_APP_ID: optional(z.string()),
  MANAGED_WALLET_APP_SECRET: optional(z.string()),
  MANAGED_WALLET_AUTHORIZATION_PRIVATE_KEY: optional(z.string()),
  MANAGED_WALLET_BASE_URL: optional(z.url({ protocol: /^https?$/ })),
  MANAGED_WALLET_HEADER_PREFIX: unlessEmpty(
    z
      .string()
      .regex(/^[a-z][a-z0-9-]{0,31}$/, 'must be the beginning of header names, in lower case')
      .default('managed'),
  ),
  FACILITATOR_PRIVATE_KEY: optional(privateKey),
  LENDING_INTENT_MATCHER: optional(address),
  PRICE_ORACLE_ADDRESS: optional(address),
  SEQUENCER_FEED_ADDRESS: optional(address),
  USDC_ADDRESS: optional(address),
  WETH_ADDRESS: optional(address),
  TREASURY_ADDRESS: optional(address),
  CHAIN_CONFIRMATIONS: optional(z.coerce.number().int().min(0).max(1_000)),
  RECONCILE_SECONDS: optional(z.coerce.number().min(0.05).max(3_600)),
  CHAIN_CLOCK_SKEW_SECONDS: optional(z.coerce.number().min(0).max(1_000_000_000)),
  X402_VALID_BEFORE_SECONDS: optional(z.string()),
  X402_DOMAIN_ALLOWLIST: list,
  SSRF_ALLOW_LOCALHOST: flag,
  BUDGET_ADVISORY_ENABLED: flag,
  BUDGET_ADVISORY_NEAR_LIMIT_BPS: optional(z.coerce.number().int().min(0).max(10_000)),
  RATELIMIT_ADVISORY_ENABLED: flag,
  RATELIMIT_ADVISORY_NEAR_LIMIT_BPS: optional(z.coerce.number().int().min(0).max(10_000)),
  RC12_RATE_LIMIT_PER_MINUTE: optional(z.coerce.number().int().positive()),
  MONITORING_URL: unlessEmpty(z.url().default('http://localhost:4000')),
  MONITORING_INTERNAL_KEY: optional(z.string()),
  CATALOG_FILE: optional(z.string()),
  PUBLIC_URL: optional(z.url()),
  TLS_CERT_FILE: optional(z.string()),
  TLS_KEY_FILE: optional(z.string()),
  TRUSTED_PROXIES: list,
  SOCKETS_PER_AGENT: unlessEmpty(
    z.coerce.number().int().min(1).max(100_000).default(LIMITS.socketsPerAgent),
  ),
  DRAIN_SECONDS: unlessEmpty(z.coerce.number().int().min(0).max(86_400).default(30)),
  RECORD_SESSIONS_DIR: optional(z.string()),
  LOG_LEVEL: unlessEmpty(z.enum(LOG_LEVELS).default('info')),
});

/** The embedded database of a development server; production must name its own place. */
const DEFAULT_DATABASE_PATH = './.data/db';

/** The chain and its contracts, as published. */
const MAINNET = {
  chainId: 8_453,
  usdc: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  weth: '0x4200000000000000000000000000000000000006',
  matcher: '0x17946cD3e180f82e632805e5549EC913330Bb175',
  /** Feeds of Chainlink's: they answer AggregatorV3's `latestRoundData()`. */
  oracle: '0x71041dddad3595F9CEd3DcCFBe3D1F4b0a16Bb70',
  sequencerFeed: '0xBCF85224fc0756B9Fa45aA7892530B47e10b6433',
} as const;

export type Config = ReturnType<typeof assemble>;

/** Reads the environment once. Throws ConfigError, naming the variable, before anything has started. */
export function readConfig(environment: NodeJS.ProcessEnv = process.env): Config {
  const parsed = Environment.safeParse(environment);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    const name = String(issue?.path[0] ?? 'environment');
    throw new ConfigError(`Invalid ${name}${quoted(name, environment)}: ${issue?.message}`);
  }
  return assemble(parsed.data);
}

/** The refused value helps to find the mistake, unless it is a secret: providers put theirs into the address. */
function quoted(name: string, environment: NodeJS.ProcessEnv): string {
  return /SECRET|KEY|TOKEN|DATABASE_URL|RPC_URL|BASE_URL|ENDPOINT/.test(name)
    ? ''
    : ` "${environment[name] ?? ''}"`;
}

function assemble(env: z.output<typeof Environment>) {
  const production = env.NODE_ENV === 'production';
  if (production) {
    requireSecrets(env);
    refuseLocalTargets(env);
  }
  return {
    environment: env.NODE_ENV,
    host: env.HOST ?? (production ? '0.0.0.0' : '127.0.0.1'),
    port: parsePort(env.PORT),
    publicUrl: env.PUBLIC_URL,
    tls: parseTls(env),
    database: parseDatabase(env.DATABASE_URL, env.NODE_ENV),
    jwtSecret: env.JWT_SECRET,
    apiKeyHmacSecret: env.API_KEY_HMAC_SECRET,
    adminApiKey: env.ADMIN_API_KEY,
    providerKeySecret: env.PROVIDER_KEY_SECRET,
    chain: assembleChain(env),
    indexer: {
      endpoint: env.INDEXER_HTTP_ENDPOINT,
      apiToken: env.INDEXER_API_TOKEN,
      adminSecret: env.INDEXER_ADMIN_SECRET,
    },
    managedWallet: {
      appId: env.MANAGED_WALLET_APP_ID,
      appSecret: env.MANAGED_WALLET_APP_SECRET,
      authorizationPrivateKey: env.MANAGED_WALLET_AUTHORIZATION_PRIVATE_KEY,
      baseUrl: env.MANAGED_WALLET_BASE_URL,
      headerPrefix: env.MANAGED_WALLET_HEADER_PREFIX,
    },
    facilitatorPrivateKey: env.FACILITATOR_PRIVATE_KEY,
    x402: {
      validBeforeSeconds: parseValidBefore(env.X402_VALID_BEFORE_SECONDS),
      domainAllowlist: env.X402_DOMAIN_ALLOWLIST,
      allowLocalhost: env.SSRF_ALLOW_LOCALHOST,
    },
    budgetAdvisory: {
      enabled: env.BUDGET_ADVISORY_ENABLED,
      nearLimitBps: env.BUDGET_ADVISORY_NEAR_LIMIT_BPS,
    },
    rateLimitAdvisory: {
      enabled: env.RATELIMIT_ADVISORY_ENABLED,
      nearLimitBps: env.RATELIMIT_ADVISORY_NEAR_LIMIT_BPS,
    },
    agentProxyPerMinute: env.RC12_RATE_LIMIT_PER_MINUTE ?? LIMITS.agentProxyPerMinute,
    monitoring: { url: env.MONITORING_URL, key: env.MONITORING_INTERNAL_KEY },
    catalogFile: env.CATALOG_FILE,
    trustedProxies: env.TRUSTED_PROXIES,
    socketsPerAgent: env.SOCKETS_PER_AGENT,
    drainSeconds: env.DRAIN_SECONDS,
    recordSessionsDir: env.RECORD_SESSIONS_DIR,
    logLevel: env.LOG_LEVEL,
  } as const;
}

function assembleChain(env: z.output<typeof Environment>) {
  if (env.NODE_ENV === 'production') keepChainNumbers(env);
  const usdc = env.USDC_ADDRESS ?? MAINNET.usdc;
  return {
    rpcUrl: env.RPC_URL,
    chainId: MAINNET.chainId,
    usdc,
    weth: env.WETH_ADDRESS ?? MAINNET.weth,
    matcher: env.LENDING_INTENT_MATCHER ?? MAINNET.matcher,
    oracle: env.PRICE_ORACLE_ADDRESS ?? MAINNET.oracle,
    sequencerFeed: env.SEQUENCER_FEED_ADDRESS ?? MAINNET.sequencerFeed,
    treasury: parseTreasury(env.TREASURY_ADDRESS, usdc),
    confirmations: env.CHAIN_CONFIRMATIONS ?? LIMITS.chainConfirmations,
    reconcileSeconds: env.RECONCILE_SECONDS ?? LIMITS.reconcileSeconds,
    clockSkewSeconds: env.CHAIN_CLOCK_SKEW_SECONDS ?? LIMITS.chainClockSkewSeconds,
  } as const;
}

/** The token pays neither nobody nor itself: what is swept there would wait for ever. */
function parseTreasury(treasury: string | undefined, usdc: string): string | undefined {
  if (treasury === undefined) return undefined;
  const refused = [usdc.toLowerCase(), `0x${'0'.repeat(40)}`];
  if (!refused.includes(treasury.toLowerCase())) return treasury;
  throw new ConfigError(`Invalid TREASURY_ADDRESS "${treasury}": USDC cannot be sent there`);
}

/** Tests travel in time and wait for no block; where money is real, nobody may. */
function keepChainNumbers(env: z.output<typeof Environment>): void {
  if (env.CHAIN_CONFIRMATIONS === 0) {
    throw new ConfigError('Invalid CHAIN_CONFIRMATIONS "0": production needs at least 1');
  }
  const fixed = {
    RECONCILE_SECONDS: LIMITS.reconcileSeconds,
    CHAIN_CLOCK_SKEW_SECONDS: LIMITS.chainClockSkewSeconds,
  } as const;
  for (const [name, value] of Object.entries(fixed)) {
    const set = env[name as keyof typeof fixed];
    if (set !== undefined && set !== value) {
      throw new ConfigError(`Invalid ${name} "${set}": production keeps ${value}`);
    }
  }
}

function requireSecrets(env: z.output<typeof Environment>): void {
  for (const name of ['JWT_SECRET', 'API_KEY_HMAC_SECRET', 'ADMIN_API_KEY'] as const) {
    if (env[name] === undefined) throw new ConfigError(`${name} is required in production`);
  }
  if (Buffer.byteLength(env.JWT_SECRET ?? '') < 32) {
    throw new ConfigError('JWT_SECRET must have at least 32 bytes');
  }
  if (env.JWT_SECRET === env.API_KEY_HMAC_SECRET) {
    throw new ConfigError('API_KEY_HMAC_SECRET must differ from JWT_SECRET');
  }
}

/** The switch opens the server's own network to every agent, so only development may use it. */
function refuseLocalTargets({ SSRF_ALLOW_LOCALHOST: isSet }: z.output<typeof Environment>): void {
  if (!isSet) return;
  throw new ConfigError(
    'SSRF_ALLOW_LOCALHOST is for development: production refuses local targets, so unset it',
  );
}

/** Half of a certificate is a mistake, and serving without one would hide it. */
function parseTls({
  TLS_CERT_FILE: certFile,
  TLS_KEY_FILE: keyFile,
}: z.output<typeof Environment>) {
  if (certFile !== undefined && keyFile !== undefined) return { certFile, keyFile } as const;
  if (certFile === undefined && keyFile === undefined) return undefined;
  throw new ConfigError(
    certFile === undefined
      ? 'TLS_CERT_FILE is required beside TLS_KEY_FILE'
      : 'TLS_KEY_FILE is required beside TLS_CERT_FILE',
  );
}

function parsePort(text: string | undefined): number {
  if (text === undefined) return 3001;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port < 1 || port > 65_535) throw new ConfigError(`Invalid PORT: "${text}"`);
  return port;
}

function parseValidBefore(text: string | undefined): number {
  if (text === undefined) return LIMITS.validBeforeSeconds;
  if (!/^[1-9]\d{0,8}$/.test(text)) {
    throw new ConfigError(`Invalid X402_VALID_BEFORE_SECONDS: "${text}"`);
  }
  return Number(text);
}

function parseDatabase(text: string | undefined, environment: string) {
  if (text === undefined) {
    if (environment === 'production')
      throw new ConfigError('DATABASE_URL is required outside development');
    return { kind: 'directory', path: DEFAULT_DATABASE_PATH } as const;
  }
  if (/^postgres(ql)?:\/\//.test(text)) return { kind: 'url', url: text } as const;
  // `file:` is how other databases spell a path; here it would make a directory of that name.
  if (/^([a-z][a-z0-9+.-]*:\/\/|file:)/i.test(text)) {
    throw new ConfigError('DATABASE_URL must be a postgres:// URL or a directory');
  }
  if (environment === 'production' && realPath(text) === realPath(DEFAULT_DATABASE_PATH)) {
    throw new ConfigError(
      `DATABASE_URL: ${DEFAULT_DATABASE_PATH} is the development default; name another place`,
    );
  }
  return { kind: 'directory', path: text } as const;
}

/** uWebSockets.js reads its header limit from the environment when it loads; its own 4 KiB is too small. */
export function raiseHeaderLimit(): void {
  process.env.UWS_HTTP_MAX_HEADERS_SIZE ??= String(LIMITS.headerBlockBytes);
}

/** A provider's credential by the name of its variable; the catalogue says which names it needs. */
export function readSecret(name: string): string | undefined {
  const value = process.env[name];
  return value === '' ? undefined : value;
}
