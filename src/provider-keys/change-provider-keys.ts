import { lockAccount } from '../developers/developer-store.ts';
import type { Random } from '../kernel/random.ts';
import { refuse } from '../kernel/refuse.ts';
import { seal } from '../kernel/seal.ts';
import type { KeyOwner } from '../keys/key.ts';
import { insertEvents } from '../store/ledger-store.ts';
import type { Queryable, Sql } from '../store/sql.ts';
import {
  providerKeyCreated,
  providerKeyDeleted,
  providerKeyUpdated,
} from '../webhooks/provider-key-event.ts';
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
  /** What the keys are sealed under. Throws the refusal where there is none. */
  readonly requireSecret: () => string;
  /** Told of the place whatever became of its change: a commit whose answer was lost may stand. */
  readonly onTouched: (place: Place) => void;
};

/** Stores, switches and deletes keys, each with its event in the same sql transaction. */
export function createProviderKeyChanges(deps: ChangeDeps) {
  const { sql, supported, requireSecret } = deps;

  async function change<T>(place: Place, work: (tx: Queryable) => Promise<T>): Promise<T> {
    try {
      return (await sql.begin(work)) as T;
    } finally {
      deps.onTouched(place);
    }
  }

  return {
    /** Stores a key, or puts it in the place of the one before, enabled whatever that one was. */
    async set(
      owner: KeyOwner,
      provider: string,
      wish: { readonly key: string; readonly label?: string | null | undefined },
    ): Promise<ProviderKey> {
      const secret = requireSecret();
      if (!supported.includes(provider)) throw refuse.providerKeys.unknownProvider(supported);
      const place = { accountId: owner.accountId, provider };
      const fresh = {
        ...place,
        sealedKey: seal(secret, sealedPlace(place), Buffer.from(wish.key), deps.random),
        prefix: maskedPrefix(wish.key),
        label: wish.label,
        createdBy: owner.wallet,
      };
      return change(place, async (tx) => {
        await lockAccount(tx, owner.accountId);
        const replaced = await replaceProviderKey(tx, fresh);
        const key = replaced ?? (await insertProviderKey(tx, fresh));
        const event = replaced === undefined ? providerKeyCreated : providerKeyUpdated;
        await insertEvents(tx, [event(origin(owner), key)]);
        return key;
      });
    },

    /** A disabled key stays where it is and is not used. */
    async toggle(owner: KeyOwner, provider: string, enabled: boolean): Promise<void> {
      requireSecret();
      const place = { accountId: owner.accountId, provider };
      await change(place, async (tx) => {
        const key = requireKey(await lockProviderKey(tx, place), provider, supported);
        if (key.enabled === enabled) return;
        await saveEnabled(tx, place, enabled);
        await insertEvents(tx, [providerKeyUpdated(origin(owner), { ...key, enabled })]);
      });
    },

    async remove(owner: KeyOwner, provider: string): Promise<void> {
      requireSecret();
      const place = { accountId: owner.accountId, provider };
      await change(place, async (tx) => {
        const key = requireKey(await deleteProviderKey(tx, place), provider, supported);
        await insertEvents(tx, [providerKeyDeleted(origin(owner), key)]);
      });
    },
  };
}

/** A key whose provider has left the catalogue is still there to be switched off and deleted. */
function requireKey(
  key: ProviderKey | undefined,
  provider: string,
  supported: readonly string[],
): ProviderKey {
  if (key !== undefined) return key;
  throw supported.includes(provider)
    ? refuse.providerKeys.notFound(provider)
    : refuse.providerKeys.unknownProvider(supported);
}

const origin = ({ accountId, wallet }: KeyOwner) => ({ accountId, actorWallet: wallet });
