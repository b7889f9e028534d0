import type { Clock } from '../kernel/clock.ts';
import type { Log } from '../kernel/log.ts';
import type { Random } from '../kernel/random.ts';
import { refuse } from '../kernel/refuse.ts';
import { openSealed } from '../kernel/seal.ts';
import type { KeyUse } from '../keys/key-use.ts';
import type { Sql } from '../store/sql.ts';
import { createProviderKeyChanges } from './change-provider-keys.ts';
import { type Place, type ProviderKey, sealedPlace } from './provider-key.ts';
import { findProviderKeys, findSealedKey } from './provider-key-store.ts';
import { createRememberedKeys } from './remembered-keys.ts';

export type ProviderKeys = ReturnType<typeof createProviderKeys>;

type Deps = {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly keyUse: KeyUse;
  /** PROVIDER_KEY_SECRET; without it nothing is stored and nothing is found. */
  readonly sealingSecret: string | undefined;
  /** Providers that a key can be stored for. */
  readonly supported: readonly string[];
};

/** Keys of developers at the providers of models: one an account and provider, sealed at rest. */
export function createProviderKeys(deps: Deps) {
  const { sql, keyUse, supported, sealingSecret } = deps;
  const remembered = createRememberedKeys({ ...deps, load: (place) => openStored(deps, place) });

  function requireSecret(): string {
    if (sealingSecret === undefined) throw refuse.providerKeys.unavailable();
    return sealingSecret;
  }

  const { set, toggle, remove } = createProviderKeyChanges({
    ...deps,
    requireSecret,
    onTouched: remembered.forget,
  });

  return {
    ...{ supported, set, toggle, remove },

    async list(accountId: string): Promise<ProviderKey[]> {
      requireSecret();
      await keyUse.flush();
      return findProviderKeys(sql, accountId);
    },

    /**
     * The key to call a provider with for an account, if it has one that is enabled; what is found counts as
     * used. This process obeys a change at once, the others after `LIMITS.providerKeyCacheMs`.
     */
    async find(accountId: string, provider: string): Promise<string | undefined> {
      if (sealingSecret === undefined) return undefined;
      const opened = await remembered.find({ accountId, provider });
      if (opened !== undefined) keyUse.touch('provider', opened.id);
      return opened?.key;
    },
  };
}

/** A key that does not open reads as absent: the call goes on without it, and the operator is told why. */
async function openStored(
  { sql, log, sealingSecret }: Deps,
  place: Place,
): Promise<{ readonly id: number; readonly key: string } | undefined> {
  const stored = await findSealedKey(sql, place);
  if (stored === undefined || sealingSecret === undefined) return undefined;
  try {
    const bytes = openSealed(sealingSecret, sealedPlace(place), stored.sealedKey);
    return { id: stored.id, key: Buffer.from(bytes).toString() };
  } catch (err) {
    log.error({ err, ...place }, 'a provider key was sealed under another secret');
    return undefined;
  }
}
