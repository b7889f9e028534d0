import type { Clock } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import type { Random } from '../../kernel/random.ts';
import { openSealed } from '../../kernel/seal.ts';
import type { Sql } from '../../platform/postgres/sql.ts';
import { providerKeyErrors } from '../errors.ts';
import type { KeyUse } from '../keys/key-use.ts';
import { createProviderKeyChanges } from './change-provider-keys.ts';
import { type ProviderKey, sealedPlace } from './provider-key.ts';
import { findProviderKeys, findSealedKeys } from './provider-key-store.ts';
import { createRememberedKeys } from './remembered-keys.ts';

export type ProviderKeys = ReturnType<typeof createProviderKeys>;

type Deps = {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly keyUse: KeyUse;
  /** PROVIDER_KEY_SECRET, which encrypts the stored keys. Undefined: no key can be stored or found. */
  readonly sealingSecret: string | undefined;
  /** Vendors whose keys can be stored. */
  readonly supported: readonly string[];
  /** Returns the vendor that a provider belongs to: the provider itself, unless it is a second address of another vendor. */
  readonly vendorOf: (provider: string) => string;
};

/**
 * Creates the developers' keys at the vendors of models: one for each account and vendor, sealed at rest. A vendor's key opens
 * every provider of the vendor. An older key that was stored under a provider's name still opens that provider.
 */
export function createProviderKeys(deps: Deps) {
  const { sql, keyUse, supported, sealingSecret, vendorOf } = deps;
  const keyFor = (keys: OpenKeys, provider: string) =>
    keys.get(provider) ?? keys.get(vendorOf(provider));
  const remembered = createRememberedKeys({ ...deps, load: (id) => openStored(deps, id) });
  const keysOf = (accountId: string): OpenKeys | Promise<OpenKeys> =>
    sealingSecret === undefined ? NO_KEYS : remembered.find(accountId);

  function requireSecret(): string {
    if (sealingSecret === undefined) throw providerKeyErrors.unavailable();
    return sealingSecret;
  }

  const { set, toggle, remove } = createProviderKeyChanges({
    ...deps,
    requireSecret,
    onTouched: ({ accountId }) => remembered.forget(accountId),
  });

  return {
    supported,
    set,
    toggle,
    remove,

    async list(accountId: string): Promise<ProviderKey[]> {
      requireSecret();
      await keyUse.flush();
      return findProviderKeys(sql, accountId);
    },

    /**
     * Returns the account's enabled key for a provider, if there is one. This process applies a change at once, the others
     * after `ACCOUNT_LIMITS.providerKey.cacheMs`.
     */
    async find(accountId: string, provider: string): Promise<string | undefined> {
      return keyFor(await keysOf(accountId), provider)?.key;
    },

    /** Notes that a call uses the account's key for this provider. */
    async noteUse(accountId: string, provider: string): Promise<void> {
      const opened = keyFor(await keysOf(accountId), provider);
      if (opened !== undefined) keyUse.touch('provider', opened.id);
    },

    /** Returns true when an account has at least one enabled key. */
    holdsAny(accountId: string): boolean | Promise<boolean> {
      const keys = keysOf(accountId);
      return keys instanceof Promise ? keys.then(({ size }) => size > 0) : keys.size > 0;
    },
  };
}

type OpenKeys = ReadonlyMap<string, { readonly id: number; readonly key: string }>;

const NO_KEYS: OpenKeys = new Map();

/**
 * Returns an account's keys, decrypted. A key that cannot be decrypted is logged and left out, so that calls go on without it.
 */
async function openStored({ sql, log, sealingSecret }: Deps, accountId: string): Promise<OpenKeys> {
  if (sealingSecret === undefined) return NO_KEYS;
  const keys = new Map<string, { readonly id: number; readonly key: string }>();
  for (const { id, provider, sealedKey } of await findSealedKeys(sql, accountId)) {
    const place = { accountId, provider };
    try {
      const bytes = openSealed(sealingSecret, sealedPlace(place), sealedKey);
      keys.set(provider, { id, key: Buffer.from(bytes).toString() });
    } catch (err) {
      log.error({ err, ...place }, 'a provider key was sealed under another secret');
    }
  }
  return keys;
}
