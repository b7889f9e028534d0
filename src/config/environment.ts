import { z } from 'zod';
import { LOG_LEVELS } from '../kernel/log.ts';
import { ADDRESS, CHAIN_SECTION, MAINNET } from './chain-section.ts';
import { CONFIG_LIMITS } from './limits.ts';
import { MAIL_SECTION } from './mail-section.ts';
import { MARKETPLACE_SECTION } from './marketplace-section.ts';
import { MEMORY_SECTION } from './memory-section.ts';
import { PHONE_SECTION } from './phone-section.ts';
import { RAMP_SECTION } from './ramp-section.ts';
import { TRACING_SECTION } from './tracing-section.ts';
import { address, flag, list, optional, share, text, unlessEmpty } from './variable-kinds.ts';
import { WALLETS_SECTION } from './wallets-section.ts';

/** Path of a development server's embedded database. Production must set its own database. */
export const DEFAULT_DATABASE_PATH = './.data/db';
export const DEFAULT_PORT = 3001;

const SWITCH = '`1` or `true`';

/** All variables that the server reads, by their headings in `docs/configuration.md`. */
export const SECTIONS = {
  Server: {
    NODE_ENV: unlessEmpty(
      z.enum(['development', 'test', 'production']).default('development'),
    ).describe('Production refuses to start without what it requires.'),
    HOST: text().meta({
      description: 'The address to listen on. In production the default is `0.0.0.0`.',
      takes: 'an address',
      defaultsTo: '127.0.0.1',
    }),
    PORT: text().meta({
      description: 'The port to listen on.',
      takes: '1 to 65535',
      defaultsTo: String(DEFAULT_PORT),
    }),
    PUBLIC_URL: optional(z.url()).meta({
      description: 'Where clients reach this server. It stands in links and callbacks.',
      unset: 'made of `HOST` and `PORT`',
    }),
    TLS_CERT_FILE: text().meta({
      description:
        'The certificate with its chain. The server then speaks https and wss itself. ' +
        'It reads the file at start, so a renewed certificate needs a restart.',
      takes: 'a PEM file',
      unset: 'no TLS',
    }),
    TLS_KEY_FILE: text().meta({
      description: 'The key of the certificate. Both files or neither.',
      takes: 'a PEM file',
      unset: 'no TLS',
    }),
    TRUSTED_PROXIES: list().meta({
      description: 'The networks whose `X-Forwarded-For` is believed.',
      takes: 'CIDR, comma separated',
      unset: 'no proxy is trusted',
    }),
    SOCKETS_PER_AGENT: unlessEmpty(
      z.coerce.number().int().min(1).max(100_000).default(CONFIG_LIMITS.socketsPerAgent),
    ).describe('Sockets that one agent may have open. One more is 429 `too_many_connections`.'),
    LOCAL_LISTENERS: unlessEmpty(z.coerce.number().int().min(1).max(10_000).optional()).meta({
      description:
        'Calls and sessions that each local recogniser hears at a time, in this process. One more is 503 `capacity`, and busy to a ' +
        'caller.',
      takes: 'a number, 1 to 10,000',
      unset: 'as many as the recogniser keeps up with',
    }),
    DRAIN_SECONDS: unlessEmpty(z.coerce.number().int().min(0).max(86_400).default(30)).describe(
      'How long a stop waits for requests and turns under way.',
    ),
    RECORD_SESSIONS_DIR: text().meta({
      description:
        'Records live sessions and phone calls into this folder, with everything that is said in them. ' +
        'See [recording.md](recording.md).',
      takes: 'a folder',
      unset: 'nothing is recorded',
    }),
    LOG_LEVEL: unlessEmpty(z.enum(LOG_LEVELS).default('info')).describe(
      'The least important lines that are logged.',
    ),
  },
  Database: {
    DATABASE_URL: text().meta({
      description:
        'A PostgreSQL server, or a directory for the embedded one. ' +
        'Production refuses the default directory, however it is spelled.',
      takes: '`postgres://…` or a directory',
      defaultsTo: DEFAULT_DATABASE_PATH,
      requiredInProduction: true,
    }),
  },
  Secrets: {
    JWT_SECRET: text().meta({
      description: 'Signs session tokens.',
      takes: 'at least 32 bytes',
      unset: 'made at first start',
      requiredInProduction: true,
    }),
    API_KEY_HMAC_SECRET: text().meta({
      description:
        'Hashes API keys at rest. It differs from `JWT_SECRET`. A change voids every key.',
      unset: 'made at first start',
      requiredInProduction: true,
    }),
    ADMIN_API_KEY: text().meta({
      description: 'Guards `/v1/admin` and `/metrics`.',
      unset: 'made at first start',
      requiredInProduction: true,
    }),
    METRICS_TOKEN: optional(z.string().min(16, 'must have at least 16 characters')).meta({
      description:
        'Reads `/metrics` and nothing else, as `Authorization: Bearer`. It differs from `ADMIN_API_KEY`.',
      takes: 'at least 16 characters',
      unset: 'only the admin key reads metrics',
    }),
    PROVIDER_KEY_SECRET: optional(z.string().min(32, 'must have at least 32 characters')).meta({
      description:
        'Seals the provider keys that developers store, the signing secrets of their webhooks and the responses that are kept. After a change they are unreadable: keys are stored anew, secrets rotated.',
      takes: 'at least 32 characters',
      unset:
        'made at first start; in production the routes of provider keys and webhooks answer 503, and no response is kept',
    }),
  },
  Chain: CHAIN_SECTION,
  'Paid calls': {
    X402_VALID_BEFORE_SECONDS: text().meta({
      description: 'Lifetime of a signed payment.',
      takes: 'a whole number above 0',
      defaultsTo: String(CONFIG_LIMITS.validBeforeSeconds),
    }),
    X402_DOMAIN_ALLOWLIST: list().meta({
      description: 'The domains that paid calls may reach.',
      takes: 'domains, comma separated',
      unset: 'any public domain',
    }),
    SSRF_ALLOW_LOCALHOST: flag().meta({
      description:
        'Lets calls reach local and private addresses, for development. ' +
        'Production refuses to start with it.',
      takes: SWITCH,
      unset: 'off',
    }),
    RC12_RATE_LIMIT_PER_MINUTE: optional(z.coerce.number().int().positive()).meta({
      description: 'Requests a minute through the paid proxy, for each agent.',
      defaultsTo: String(CONFIG_LIMITS.agentProxyPerMinute),
    }),
  },
  Marketplace: MARKETPLACE_SECTION,
  Memory: MEMORY_SECTION,
  'Managed wallets': WALLETS_SECTION,
  'Money in and out': RAMP_SECTION,
  Mail: MAIL_SECTION,
  Models: {
    CATALOG_FILE: text().meta({
      description:
        'Models and providers that add to the built-in catalogue or replace entries of it. ' +
        'See [models.md](models.md#overriding).',
      takes: 'a JSON file',
      unset: 'the built-in catalogue alone',
    }),
    RESPONSE_DAYS: unlessEmpty(
      z.coerce.number().int().min(0).max(365).default(CONFIG_LIMITS.responsesKeptDays),
    ).meta({
      description:
        'How long a response of `POST /v1/responses` is kept behind its last use, unless its request says `"store": false`. ' +
        '0 keeps none.',
      takes: 'days, 0 to 365',
    }),
  },
  Phone: PHONE_SECTION,
  'Advisory headers': {
    BUDGET_ADVISORY_ENABLED: flag().meta({
      description:
        'Paid answers carry `X-Svc-Budget-Advisory`: the tightest cap that they count under.',
      takes: SWITCH,
      unset: 'off',
    }),
    BUDGET_ADVISORY_NEAR_LIMIT_BPS: optional(share).meta({
      description:
        'The used share of a cap, in basis points, from which the header says `near_limit`. Ignored while the header is off.',
      unset: 'never',
    }),
    RATELIMIT_ADVISORY_ENABLED: flag().meta({
      description:
        'Gateway answers carry `X-Svc-RateLimit-Advisory`: what the rate limits of the upstream leave.',
      takes: SWITCH,
      unset: 'off',
    }),
    RATELIMIT_ADVISORY_NEAR_LIMIT_BPS: optional(share).meta({
      description:
        'The used share of a limit, in basis points, from which the header says `near_limit`. Ignored while the header is off.',
      unset: 'never',
    }),
  },
  Monitoring: {
    MONITORING_URL: unlessEmpty(z.url().default('http://localhost:4000')).describe(
      'Where the server pushes its status every 15 seconds.',
    ),
    MONITORING_INTERNAL_KEY: text().meta({
      description: 'The credential of the push.',
      unset: 'nothing is pushed',
    }),
  },
  Tracing: TRACING_SECTION,
  Commands: {
    DEVELOPER_KEY: text().meta({
      description: 'The developer key that `npm run listen` reads events with.',
      takes: '`svc_live_…`',
      unset: '`--key` names it',
    }),
  },
  'Not used yet': {
    LENDING_INTENT_MATCHER: optional(address).meta({
      description: 'The contract that matches lending intents.',
      takes: ADDRESS,
      defaultsTo: MAINNET.matcher,
    }),
    WETH_ADDRESS: optional(address).meta({
      description: 'The wrapped ether token.',
      takes: ADDRESS,
      defaultsTo: MAINNET.weth,
    }),
    INDEXER_HTTP_ENDPOINT: optional(z.url()).describe('The indexer of the lending product.'),
    INDEXER_API_TOKEN: text().describe('The credential for reading from it.'),
    INDEXER_ADMIN_SECRET: text().describe('The credential for managing it.'),
  },
} as const;

/**
 * Removes the thresholds of advisories that are switched off, so that an invalid threshold of an unused advisory is ignored.
 */
export function withoutIdleThresholds(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const isOn = (name: string) => flag().parse(environment[name]);
  return {
    ...environment,
    ...(!isOn('BUDGET_ADVISORY_ENABLED') && { BUDGET_ADVISORY_NEAR_LIMIT_BPS: undefined }),
    ...(!isOn('RATELIMIT_ADVISORY_ENABLED') && { RATELIMIT_ADVISORY_NEAR_LIMIT_BPS: undefined }),
  };
}

/**
 * All variables of all sections, without the headings. Credentials of providers are missing here: `readSecret` reads them by
 * the names that the catalogue has.
 */
export const Environment = z.object({
  ...SECTIONS.Server,
  ...SECTIONS.Database,
  ...SECTIONS.Secrets,
  ...SECTIONS.Chain,
  ...SECTIONS['Paid calls'],
  ...SECTIONS.Marketplace,
  ...SECTIONS.Memory,
  ...SECTIONS['Managed wallets'],
  ...SECTIONS['Money in and out'],
  ...SECTIONS.Mail,
  ...SECTIONS.Models,
  ...SECTIONS.Phone,
  ...SECTIONS['Advisory headers'],
  ...SECTIONS.Monitoring,
  ...SECTIONS.Tracing,
  ...SECTIONS.Commands,
  ...SECTIONS['Not used yet'],
});
