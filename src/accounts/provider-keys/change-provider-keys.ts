import type { ApiError } from '../../kernel/api-error.ts';
import type { Random } from '../../kernel/random.ts';
import { seal } from '../../kernel/seal.ts';
import { insertEvents } from '../../ledger/store/agent-funds.ts';
import type { Queryable, Sql } from '../../platform/postgres/sql.ts';
import {
  providerKeyCreated,
  providerKeyDeleted,
  providerKeyUpdated,
} from '../../webhooks/provider-key-event.ts';
import { lockAccount } from '../developers/developer-store.ts';
import { providerKeyErrors } from '../errors.ts';
import type { KeyOwner } from '../keys/key.ts';
import { maskedPrefix, type Place, type ProviderKey, sealedPlace } from './provider-key.ts';
import {
  deleteProviderKey,
  insertProviderKey,
  lockProviderKey,
  replaceProviderKey,
  saveEnabled,
} from './provider-key-store.ts';

type ChangeDeps = {
  readonly sql: Sql;
  readonly random: Random;
  readonly supported: readonly string[];
  readonly vendorOf: (provider: string) => string;
  /** Returns the secret that seals the keys. Throws the refusal when none is configured. */
  readonly requireSecret: () => string;
  /**
   * Called with the account after every attempt to change a key, also after a failure: the transaction may have been committed.
   */
  readonly onTouched: (owner: Pick<KeyOwner, 'accountId'>) => void;
};

/**
 * Creates the functions that store, enable, disable and delete provider keys. Each writes its event in the same sql
 * transaction.
 */
export function createProviderKeyChanges(deps: ChangeDeps) {
  const { sql, supported, requireSecret, vendorOf } = deps;

  async function change<T>(owner: KeyOwner, work: (tx: Queryable) => Promise<T>): Promise<T> {
    try {
      return (await sql.begin(work)) as T;
    } finally {
      deps.onTouched(owner);
    }
  }

  const standing = <T>(
    { accountId }: KeyOwner,
    provider: string,
    look: (place: Place) => Promise<T | undefined>,
  ) => firstStanding(accountId, [provider, vendorOf(provider)], look);

  return {
    /** Stores a key, or replaces the stored key. The new key is enabled even when the old key was disabled. */
    async set(
      owner: KeyOwner,
      provider: string,
      wanted: { readonly key: string; readonly label?: string | null | undefined },
    ): Promise<ProviderKey> {
      const secret = requireSecret();
      const vendor = vendorOf(provider);
      if (!supported.includes(vendor)) throw providerKeyErrors.unknownProvider(supported);
      const freshAt = (place: Place) => ({
        ...place,
        sealedKey: seal(secret, sealedPlace(place), Buffer.from(wanted.key), deps.random),
        prefix: maskedPrefix(wanted.key),
        label: wanted.label,
        createdBy: owner.wallet,
      });
      return change(owner, async (tx) => {
        await lockAccount(tx, owner.accountId);
        const found = await standing(owner, provider, (place) =>
          replaceProviderKey(tx, freshAt(place)),
        );
        const place = { accountId: owner.accountId, provider: vendor };
        const key = found?.key ?? (await insertProviderKey(tx, freshAt(place)));
        const event = found === undefined ? providerKeyCreated : providerKeyUpdated;
        await insertEvents(tx, [event(origin(owner), key)]);
        return key;
      });
    },

    /** Enables or disables a stored key. A disabled key stays stored and is not used. */
    async toggle(owner: KeyOwner, provider: string, enabled: boolean): Promise<void> {
      requireSecret();
      await change(owner, async (tx) => {
        const found = await standing(owner, provider, (place) => lockProviderKey(tx, place));
        if (found === undefined) throw refuseMissing(vendorOf(provider), supported);
        const { key, place } = found;
        if (key.enabled === enabled) return;
        await saveEnabled(tx, place, enabled);
        await insertEvents(tx, [providerKeyUpdated(origin(owner), { ...key, enabled })]);
      });
    },

    async remove(owner: KeyOwner, provider: string): Promise<void> {
      requireSecret();
      await change(owner, async (tx) => {
        const found = await standing(owner, provider, (place) => deleteProviderKey(tx, place));
        if (found === undefined) throw refuseMissing(vendorOf(provider), supported);
        await insertEvents(tx, [providerKeyDeleted(origin(owner), found.key)]);
      });
    },
  };
}

/**
 * Returns the first key that is stored under one of the names: under the given name, which may be a provider of the vendor from
 * when keys were stored for each, or else under the vendor.
 */
async function firstStanding<T>(
  accountId: string,
  providers: readonly string[],
  look: (place: Place) => Promise<T | undefined>,
): Promise<{ readonly key: T; readonly place: Place } | undefined> {
  for (const provider of new Set(providers)) {
    const place = { accountId, provider };
    const key = await look(place);
    if (key !== undefined) return { key, place };
  }
  return undefined;
}

/**
 * Returns the error for a missing key. It is called after the look-up, because a key whose vendor has left the catalogue can
 * still be disabled and deleted.
 */
const refuseMissing = (vendor: string, supported: readonly string[]): ApiError =>
  supported.includes(vendor)
    ? providerKeyErrors.notFound(vendor)
    : providerKeyErrors.unknownProvider(supported);

const origin = ({ accountId, wallet }: KeyOwner) => ({ accountId, actorWallet: wallet });
