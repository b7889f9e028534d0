import { realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { z } from 'zod';
import { assemblePhone } from './assemble-phone.ts';
import { assembleRamp } from './assemble-ramp.ts';
import { MAINNET } from './chain-section.ts';
import { ConfigError } from './config-error.ts';
import {
  DEFAULT_DATABASE_PATH,
  DEFAULT_PORT,
  Environment,
  withoutIdleThresholds,
} from './environment.ts';
import { CONFIG_LIMITS } from './limits.ts';
import { assembleMail } from './mail-section.ts';
import { assembleTracing } from './tracing-section.ts';

export type Config = ReturnType<typeof assemble>;

/**
 * Reads the configuration from the environment. Throws ConfigError with the name of the faulty variable, before anything has
 * started.
 */
export function readConfig(environment: NodeJS.ProcessEnv = process.env): Config {
  const parsed = Environment.safeParse(withoutIdleThresholds(environment));
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    const name = String(issue?.path[0] ?? 'environment');
    throw new ConfigError(`Invalid ${name}${quoted(name, environment)}: ${issue?.message}`);
  }
  return assemble(parsed.data);
}

/**
 * Returns the refused value for the error text, or an empty text for variables that may hold a secret. Providers put their keys
 * into addresses, so addresses count as secrets.
 */
function quoted(name: string, environment: NodeJS.ProcessEnv): string {
  return /SECRET|KEY|TOKEN|DATABASE_URL|MAIL_URL|RPC_URL|BASE_URL|ENDPOINT|HEADERS/.test(name)
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
    marketplaceUrl: env.MARKETPLACE_URL ?? env.PUBLIC_URL,
    marketplaceProbes: env.MARKETPLACE_PROBES !== 'off',
    tls: parseTls(env),
    database: parseDatabase(env.DATABASE_URL, env.NODE_ENV),
    memoryIndex: env.MEMORY_INDEX,
    memoryModels: {
      embedding: env.MEMORY_EMBEDDING_MODEL,
      infer: env.MEMORY_INFER_MODEL,
    },
    jwtSecret: env.JWT_SECRET,
    apiKeyHmacSecret: env.API_KEY_HMAC_SECRET,
    adminApiKey: env.ADMIN_API_KEY,
    metricsToken: metricsTokenOf(env),
    providerKeySecret: env.PROVIDER_KEY_SECRET,
    responseDays: env.RESPONSE_DAYS,
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
    ramp: assembleRamp(env),
    welcomeCredit: env.WELCOME_CREDIT_ENABLED,
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
    agentProxyPerMinute: env.RC12_RATE_LIMIT_PER_MINUTE ?? CONFIG_LIMITS.agentProxyPerMinute,
    mail: assembleMail(env),
    monitoring: { url: env.MONITORING_URL, key: env.MONITORING_INTERNAL_KEY },
    tracing: assembleTracing(env),
    catalogFile: env.CATALOG_FILE,
    trustedProxies: env.TRUSTED_PROXIES,
    socketsPerAgent: env.SOCKETS_PER_AGENT,
    localListeners: env.LOCAL_LISTENERS,
    drainSeconds: env.DRAIN_SECONDS,
    recordSessionsDir: env.RECORD_SESSIONS_DIR,
    logLevel: env.LOG_LEVEL,
    developerKey: env.DEVELOPER_KEY,
    phone: assemblePhone(env),
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
    confirmations: env.CHAIN_CONFIRMATIONS ?? CONFIG_LIMITS.chain.confirmations,
    reconcileSeconds: env.RECONCILE_SECONDS ?? CONFIG_LIMITS.chain.reconcileSeconds,
    clockSkewSeconds: env.CHAIN_CLOCK_SKEW_SECONDS ?? CONFIG_LIMITS.chain.clockSkewSeconds,
  } as const;
}

/**
 * Returns the treasury address. Throws ConfigError for the zero address and for the USDC contract itself: the token refuses
 * transfers to both, so a sweep there would wait for ever.
 */
function parseTreasury(treasury: string | undefined, usdc: string): string | undefined {
  if (treasury === undefined) return undefined;
  const refused = [usdc.toLowerCase(), `0x${'0'.repeat(40)}`];
  if (!refused.includes(treasury.toLowerCase())) return treasury;
  throw new ConfigError(`Invalid TREASURY_ADDRESS "${treasury}": USDC cannot be sent there`);
}

/**
 * Throws ConfigError for settings of the chain that only tests may use: no confirmations, or other periods than the limits'.
 */
function keepChainNumbers(env: z.output<typeof Environment>): void {
  if (env.CHAIN_CONFIRMATIONS === 0) {
    throw new ConfigError('Invalid CHAIN_CONFIRMATIONS "0": production needs at least 1');
  }
  const fixed = {
    RECONCILE_SECONDS: CONFIG_LIMITS.chain.reconcileSeconds,
    CHAIN_CLOCK_SKEW_SECONDS: CONFIG_LIMITS.chain.clockSkewSeconds,
  } as const;
  for (const [name, value] of Object.entries(fixed)) {
    const set = env[name as keyof typeof fixed];
    if (set !== undefined && set !== value) {
      throw new ConfigError(`Invalid ${name} "${set}": production keeps ${value}`);
    }
  }
}

/** Returns the token for metrics. Throws ConfigError for the admin key, which would let every collector move money. */
function metricsTokenOf(env: z.output<typeof Environment>): string | undefined {
  const token = env.METRICS_TOKEN;
  if (token === undefined || token !== env.ADMIN_API_KEY) return token;
  throw new ConfigError('METRICS_TOKEN must differ from ADMIN_API_KEY');
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

/**
 * Throws ConfigError when SSRF_ALLOW_LOCALHOST is set: the switch opens the server's own network to every agent, so only
 * development may use it.
 */
function refuseLocalTargets({ SSRF_ALLOW_LOCALHOST: isSet }: z.output<typeof Environment>): void {
  if (!isSet) return;
  throw new ConfigError(
    'SSRF_ALLOW_LOCALHOST is for development: production refuses local targets, so unset it',
  );
}

/**
 * Returns the files of the TLS certificate and its key; undefined when neither is set. Throws ConfigError when only one is set.
 */
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
  if (text === undefined) return DEFAULT_PORT;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port < 1 || port > 65_535) throw new ConfigError(`Invalid PORT: "${text}"`);
  return port;
}

function parseValidBefore(text: string | undefined): number {
  if (text === undefined) return CONFIG_LIMITS.validBeforeSeconds;
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
  // A `file:` URL would create a directory of that name, so it is refused like all other URLs.
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

/** Sets the header limit that uWebSockets.js reads from the environment when it loads. Its default of 4 KiB is too small. */
export function raiseHeaderLimit(): void {
  process.env.UWS_HTTP_MAX_HEADERS_SIZE ??= String(CONFIG_LIMITS.headerBlockBytes);
}

/** Reads a provider's credential from the variable `name`. The catalogue lists the names of these variables. */
export function readSecret(name: string): string | undefined {
  const value = process.env[name];
  return value === '' ? undefined : value;
}

/**
 * Returns the absolute path without `.`, `..`, repeated slashes and symbolic links. For a path that does not exist yet,
 * resolves its existing part and appends the rest unchanged.
 */
function realPath(path: string): string {
  const absolute = resolve(path);
  try {
    return realpathSync(absolute);
  } catch {
    const parent = dirname(absolute);
    return parent === absolute ? absolute : join(realPath(parent), basename(absolute));
  }
}
