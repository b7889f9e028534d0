import { z } from 'zod';
import { LIMITS } from '../kernel/limits.ts';
import { LOG_LEVELS } from '../kernel/log.ts';
import { MARKETPLACE_SECTION } from './marketplace-section.ts';
import { MEMORY_SECTION } from './memory-section.ts';
import { TRACING_SECTION } from './tracing-section.ts';
import {
  address,
  flag,
  list,
  optional,
  privateKey,
  share,
  text,
  unlessEmpty,
} from './variable-kinds.ts';

/** The embedded database of a development server; production must name its own place. */
export const DEFAULT_DATABASE_PATH = './.data/db';
export const DEFAULT_PORT = 3001;

/** The chain and its contracts, as published. */
export const MAINNET = {
  chainId: 8_453,
  usdc: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  weth: '0x4200000000000000000000000000000000000006',
  matcher: '0x17946cD3e180f82e632805e5549EC913330Bb175',
  /** Feeds of Chainlink's: they answer AggregatorV3's `latestRoundData()`. */
  oracle: '0x71041dddad3595F9CEd3DcCFBe3D1F4b0a16Bb70',
  sequencerFeed: '0xBCF85224fc0756B9Fa45aA7892530B47e10b6433',
} as const;

const ADDRESS = '`0x` and 40 hex digits';
const SWITCH = '`1` or `true`';

/** Every variable that the server reads, under the heading that `docs/configuration.md` gives it. */
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
      z.coerce.number().int().min(1).max(100_000).default(LIMITS.socketsPerAgent),
    ).describe('Sockets that one agent may have open. One more is 429 `too_many_connections`.'),
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
    PROVIDER_KEY_SECRET: optional(z.string().min(32, 'must have at least 32 characters')).meta({
      description:
        'Seals the provider keys that developers store, the signing secrets of their webhooks and the responses that are kept. After a change they are unreadable: keys are stored anew, secrets rotated.',
      takes: 'at least 32 characters',
      unset:
        'made at first start; in production the routes of provider keys and webhooks answer 503, and no response is kept',
    }),
  },
  Chain: {
    RPC_URL: optional(z.url()).meta({
      description: 'The RPC endpoint of the chain.',
      unset: 'no chain traffic, and paid calls are refused',
    }),
    USDC_ADDRESS: optional(address).meta({
      description: 'The token that wallets hold. The default is the deployment on chain 8453.',
      takes: ADDRESS,
      defaultsTo: MAINNET.usdc,
    }),
    PRICE_ORACLE_ADDRESS: optional(address).meta({
      description: "Answers AggregatorV3's `latestRoundData()` with the price of ether in dollars.",
      takes: ADDRESS,
      defaultsTo: MAINNET.oracle,
    }),
    SEQUENCER_FEED_ADDRESS: optional(address).meta({
      description:
        'Answers `latestRoundData()` with whether the sequencer is up. Paid calls are refused ' +
        'while this feed or the price feed is bad or cannot be read.',
      takes: ADDRESS,
      defaultsTo: MAINNET.sequencerFeed,
    }),
    TREASURY_ADDRESS: optional(address).meta({
      description: 'Where consumed funds are swept to out of agent wallets, from one dollar on.',
      takes: ADDRESS,
      unset: 'consumed funds stay in agent wallets',
    }),
    CHAIN_CONFIRMATIONS: optional(z.coerce.number().int().min(0).max(1_000)).meta({
      description: 'Blocks on top of a block before it counts. At least 1 in production.',
      defaultsTo: String(LIMITS.chainConfirmations),
    }),
    RECONCILE_SECONDS: optional(z.coerce.number().min(0.05).max(3_600)).meta({
      description: 'Time between two readings of the chain. Fixed in production.',
      defaultsTo: String(LIMITS.reconcileSeconds),
    }),
    CHAIN_CLOCK_SKEW_SECONDS: optional(z.coerce.number().min(0).max(1_000_000_000)).meta({
      description:
        'How far the clocks of chain and server may be apart. Beyond it paid calls are refused. ' +
        'Fixed in production.',
      defaultsTo: String(LIMITS.chainClockSkewSeconds),
    }),
  },
  'Paid calls': {
    X402_VALID_BEFORE_SECONDS: text().meta({
      description: 'Lifetime of a signed payment.',
      takes: 'a whole number above 0',
      defaultsTo: String(LIMITS.validBeforeSeconds),
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
      defaultsTo: String(LIMITS.agentProxyPerMinute),
    }),
  },
  Marketplace: MARKETPLACE_SECTION,
  Memory: MEMORY_SECTION,
  'Managed wallets': {
    MANAGED_WALLET_APP_ID: text().meta({
      description:
        'The wallet provider. `local` derives wallets from the authorization key and keeps them here, ' +
        'encrypted under the app secret. Any other id is an app at a provider.',
      unset: '`local` in development; else agent routes answer 503',
    }),
    MANAGED_WALLET_APP_SECRET: text().meta({
      description: 'The secret of the app.',
      unset: 'made in development; else agent routes answer 503',
    }),
    MANAGED_WALLET_AUTHORIZATION_PRIVATE_KEY: text().meta({
      description: 'Signs the requests to the provider.',
      takes: 'P-256, PKCS#8 in base64 or PEM',
      unset: 'made in development; else agent routes answer 503',
    }),
    MANAGED_WALLET_BASE_URL: optional(z.url({ protocol: /^https?$/ })).meta({
      description: 'Where the provider is.',
      takes: 'an http or https URL',
      unset: 'an app id other than `local` warns at start, and agent routes answer 503',
    }),
    MANAGED_WALLET_HEADER_PREFIX: unlessEmpty(
      z
        .string()
        .regex(/^[a-z][a-z0-9-]{0,31}$/, 'must be the beginning of header names, in lower case')
        .default('managed'),
    ).meta({
      description: "What the provider's own headers begin with, as in `managed-app-id`.",
      takes: 'lower case, at most 32 characters',
    }),
    FACILITATOR_PRIVATE_KEY: optional(privateKey).meta({
      description: 'The signer that pays gas. It holds nothing else.',
      takes: '`0x` and 64 hex digits',
      unset: 'made in development; else agents cannot be created',
    }),
  },
  Models: {
    CATALOG_FILE: text().meta({
      description:
        'Models and providers that add to the built-in catalogue or replace entries of it. ' +
        'See [models.md](models.md#overriding).',
      takes: 'a JSON file',
      unset: 'the built-in catalogue alone',
    }),
    RESPONSE_DAYS: unlessEmpty(
      z.coerce.number().int().min(0).max(365).default(LIMITS.responses.keptDays),
    ).meta({
      description:
        'How long a response of `POST /v1/responses` is kept behind its last use, unless its request says `"store": false`. ' +
        '0 keeps none.',
      takes: 'days, 0 to 365',
    }),
  },
  Phone: {
    PHONE_CARRIER: optional(z.enum(['twilio', 'telnyx', 'loopback', 'none'])).meta({
      description:
        'Who connects calls. `loopback` is a callee inside this process, for development.',
      unset: 'the carrier whose credentials are set; without any, `loopback` in development',
    }),
    TWILIO_ACCOUNT_SID: optional(
      z.string().regex(/^AC[0-9a-fA-F]{32}$/, 'must be AC and 32 hex digits'),
    ).meta({
      description: 'The account at Twilio.',
      takes: '`AC` and 32 hex digits',
      unset: 'Twilio is off',
    }),
    TWILIO_AUTH_TOKEN: text().meta({
      description:
        'Authenticates this server at Twilio, and the callbacks of Twilio at this server.',
      unset: 'Twilio is off',
    }),
    TWILIO_BASE_URL: unlessEmpty(z.url().default('https://api.twilio.com')).describe(
      'Where the API of Twilio is.',
    ),
    TELNYX_API_KEY: text().meta({
      description: 'Authenticates this server at Telnyx.',
      unset: 'Telnyx is off',
    }),
    TELNYX_PUBLIC_KEY: text().meta({
      description: 'Authenticates the callbacks of Telnyx.',
      takes: 'an Ed25519 key in base64',
      unset: 'Telnyx is off',
    }),
    TELNYX_CONNECTION_ID: text().meta({
      description: 'The call control application at Telnyx.',
      unset: 'Telnyx is off',
    }),
    TELNYX_BASE_URL: unlessEmpty(z.url().default('https://api.telnyx.com')).describe(
      'Where the API of Telnyx is.',
    ),
    PHONE_COUNTRIES: unlessEmpty(
      z
        .string()
        .regex(/^[A-Z]{2}(,[A-Z]{2})*$/, 'must be country codes, comma separated')
        .default('US,CA'),
    ).meta({
      description: 'The countries that may be called.',
      takes: 'two-letter codes, comma separated',
    }),
    PHONE_CALLING_HOURS: optional(
      z.string().regex(/^([01]?\d|2[0-3])-([01]?\d|2[0-4])$/, 'must be two hours, such as 8-21'),
    ).meta({
      description: 'The hours of the callee in which calls may be placed.',
      takes: 'two hours, such as `8-21`',
      unset: 'at any hour',
    }),
    PHONE_STT_MODEL: unlessEmpty(z.string().default('local/pocketsphinx')).describe(
      'The model that transcribes callers.',
    ),
    PHONE_TTS_MODEL: unlessEmpty(z.string().default('local/flite')).describe(
      'The model that speaks to callers.',
    ),
    PHONE_RATE_CARD_FILE: text().meta({
      description: 'Prices that replace those of the built-in rate card.',
      takes: 'a JSON file',
      unset: 'the built-in prices',
    }),
    PHONE_RECORDING_DAYS: unlessEmpty(
      z.coerce.number().int().min(1).max(3_650).default(LIMITS.phone.recordingDays),
    ).meta({
      description: 'How long the carrier keeps the recordings of calls.',
      takes: 'days, 1 to 3650',
    }),
    PHONE_MONTHLY_CARRIER_LIMIT_USD: optional(z.coerce.number().positive()).meta({
      description:
        'The spend at the carrier in a month at which it suspends the phone service of this server.',
      unset: 'no limit',
    }),
  },
  'Advisory headers': {
    BUDGET_ADVISORY_ENABLED: flag().meta({
      description:
        'Paid answers carry `X-Svc-Budget-Advisory`: the tightest cap that they count under.',
      takes: SWITCH,
      unset: 'off',
    }),
    BUDGET_ADVISORY_NEAR_LIMIT_BPS: optional(share).meta({
      description:
        'The used share of a cap, in basis points, from which the header says `near_limit`.',
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
        'The used share of a limit, in basis points, from which the header says `near_limit`.',
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

/** The same without headings. Credentials of providers are read by the names that the catalogue gives them. */
export const Environment = z.object({
  ...SECTIONS.Server,
  ...SECTIONS.Database,
  ...SECTIONS.Secrets,
  ...SECTIONS.Chain,
  ...SECTIONS['Paid calls'],
  ...SECTIONS.Marketplace,
  ...SECTIONS.Memory,
  ...SECTIONS['Managed wallets'],
  ...SECTIONS.Models,
  ...SECTIONS.Phone,
  ...SECTIONS['Advisory headers'],
  ...SECTIONS.Monitoring,
  ...SECTIONS.Tracing,
  ...SECTIONS.Commands,
  ...SECTIONS['Not used yet'],
});
