import { chmodSync, linkSync, mkdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { keyedHash } from '../accounts/keys/keyed-hash.ts';
import type { Config } from '../config/config.ts';
import { ConfigError } from '../config/config-error.ts';
import { type Random, randomHex } from '../kernel/random.ts';

const Kept = z
  .object({
    jwtSecret: z.string().min(32),
    apiKeyHmacSecret: z.string().min(32),
    adminApiKey: z.string().min(16),
    managedWalletAppSecret: z.string().min(32),
    managedWalletAuthorizationPrivateKey: z.string().min(32),
    facilitatorPrivateKey: z.string().regex(/^0x[0-9a-f]{64}$/),
    providerKeySecret: z.string().min(32).optional(),
  })
  .transform((kept) => ({
    ...kept,
    // A file of an earlier version lacks this secret. The derived value is the same at every start and in every process.
    providerKeySecret: kept.providerKeySecret ?? keyedHash(kept.apiKeyHmacSecret, 'provider keys'),
  }));

export type Settings = Config & {
  readonly jwtSecret: string;
  readonly apiKeyHmacSecret: string;
  readonly adminApiKey: string;
};

/** Settings of this server, and the local stand-ins for real configuration that the log names at start. */
export type LocalParts = { readonly settings: Settings; readonly local: readonly string[] };

/** Returns the directory in which a development server keeps what it made for itself: beside its database. */
const dataDirectory = (database: Config['database']): string =>
  database.kind === 'directory' ? dirname(database.path) : './.data';

/**
 * Completes a development configuration: each secret that the environment does not set is generated once and stored beside the
 * database, readable by its owner only. A production configuration is returned unchanged.
 */
export function completeSettings(config: Config, random: Random): LocalParts {
  if (config.environment === 'production') return { settings: config as Settings, local: [] };
  const kept = keepSecrets(join(dataDirectory(config.database), 'secrets.json'), random);
  const local: string[] = [];
  const or = <T>(name: string, set: T | undefined, own: T): T => {
    if (set === undefined) local.push(name);
    return set ?? own;
  };
  const wallet = config.managedWallet;
  return {
    settings: {
      ...config,
      jwtSecret: or('JWT_SECRET', config.jwtSecret, kept.jwtSecret),
      apiKeyHmacSecret: or('API_KEY_HMAC_SECRET', config.apiKeyHmacSecret, kept.apiKeyHmacSecret),
      adminApiKey: or('ADMIN_API_KEY', config.adminApiKey, kept.adminApiKey),
      providerKeySecret: or(
        'PROVIDER_KEY_SECRET',
        config.providerKeySecret,
        kept.providerKeySecret,
      ),
      facilitatorPrivateKey: or(
        'FACILITATOR_PRIVATE_KEY',
        config.facilitatorPrivateKey,
        kept.facilitatorPrivateKey,
      ),
      managedWallet: {
        ...wallet,
        appId: or('MANAGED_WALLET_APP_ID', wallet.appId, 'local'),
        appSecret: or('MANAGED_WALLET_APP_SECRET', wallet.appSecret, kept.managedWalletAppSecret),
        authorizationPrivateKey: or(
          'MANAGED_WALLET_AUTHORIZATION_PRIVATE_KEY',
          wallet.authorizationPrivateKey,
          kept.managedWalletAuthorizationPrivateKey,
        ),
      },
    },
    local,
  };
}

function keepSecrets(file: string, random: Random): z.output<typeof Kept> {
  const existing = readKept(file);
  if (existing !== undefined) return existing;
  const made = {
    jwtSecret: randomHex(random, 32),
    apiKeyHmacSecret: randomHex(random, 32),
    adminApiKey: randomHex(random, 24),
    managedWalletAppSecret: randomHex(random, 32),
    managedWalletAuthorizationPrivateKey: randomHex(random, 32),
    facilitatorPrivateKey: `0x${randomHex(random, 32)}`,
    providerKeySecret: randomHex(random, 32),
  };
  mkdirSync(dirname(file), { recursive: true });
  return keepFirst(file, `${JSON.stringify(made, null, 2)}\n`) ? made : keepSecrets(file, random);
}

/** Publishes the complete file under its name. Returns false when another process was first. */
function keepFirst(file: string, text: string): boolean {
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, text, { mode: 0o600, flush: true });
  chmodSync(draft, 0o600);
  try {
    linkSync(draft, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    unlinkSync(draft);
  }
}

function readKept(file: string): z.output<typeof Kept> | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  const kept = Kept.safeParse(parseJson(text));
  if (kept.success) return kept.data;
  throw new ConfigError(`${file} is damaged; restore it, or remove it to void every key it signed`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
