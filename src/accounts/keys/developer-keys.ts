import type { Clock } from '../../kernel/clock.ts';
import { developerKeyPrefix, newDeveloperKey } from '../../kernel/ids.ts';
import type { Random } from '../../kernel/random.ts';
import { insertEvents } from '../../ledger/store/agent-funds.ts';
import type { Queryable, Sql } from '../../platform/postgres/sql.ts';
import { keyCreated, keyRotated } from '../../webhooks/event.ts';
import { lockAccount } from '../developers/developer-store.ts';
import { requireRole } from '../developers/require-role.ts';
import { keyErrors } from '../errors.ts';
import { ACCOUNT_LIMITS } from '../limits.ts';
import {
  findDeveloperKeys,
  insertDeveloperKey,
  type NewDeveloperKey,
  revokeDeveloperKey,
} from './developer-key-store.ts';
import type { Invalidation } from './invalidation.ts';
import type { Invalidations } from './invalidations.ts';
import type { DeveloperKey, Issued, KeyOwner, KeyRequest } from './key.ts';
import type { KeyUse } from './key-use.ts';
import { keyedHash } from './keyed-hash.ts';

export type DeveloperKeys = ReturnType<typeof createDeveloperKeys>;

/**
 * Creates the functions for an account's management keys. At most five keys work at once, even under concurrent requests; a
 * revoked key is refused at once. A key has the role of the member who issued it, and ends with the membership.
 */
export function createDeveloperKeys(deps: {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly random: Random;
  readonly hmacSecret: string;
  readonly invalidations: Invalidations;
  readonly keyUse: KeyUse;
}) {
  const { sql, clock, invalidations } = deps;
  const now = () => new Date(clock.now());

  async function issue(
    tx: Queryable,
    key: Omit<NewDeveloperKey, 'digest' | 'prefix'>,
  ): Promise<Issued<DeveloperKey>> {
    const secret = newDeveloperKey(deps.random);
    const record = await insertDeveloperKey(tx, {
      ...key,
      digest: keyedHash(deps.hmacSecret, secret),
      prefix: developerKeyPrefix(secret),
    });
    return { record, secret };
  }

  /** Revokes a key in the caller's sql transaction. Throws the same error for an absent key and for another account's key. */
  async function requireRevoked(tx: Queryable, owner: KeyOwner, keyId: number) {
    const old = await revokeDeveloperKey(tx, owner.accountId, keyId, now());
    if (old === undefined) throw keyErrors.notFound();
    return old;
  }

  return {
    async create(owner: KeyOwner, wanted: KeyRequest): Promise<Issued<DeveloperKey>> {
      if (wanted.expiresAt !== undefined && wanted.expiresAt <= now()) {
        throw keyErrors.invalidExpiry();
      }
      return sql.begin(async (tx) => {
        await lockAccount(tx, owner.accountId);
        await requireRole(tx, owner, 'account');
        const active = await findDeveloperKeys(tx, owner.accountId, now());
        if (active.length >= ACCOUNT_LIMITS.key.perAccount) {
          throw keyErrors.limitExceeded(ACCOUNT_LIMITS.key.perAccount);
        }
        const issued = await issue(tx, {
          accountId: owner.accountId,
          label: wanted.label ?? null,
          permissions: wanted.permissions ?? 'read',
          expiresAt: wanted.expiresAt ?? null,
          rotatedFrom: null,
          createdBy: owner.wallet,
        });
        await insertEvents(tx, [keyCreated(origin(owner), named(issued.record))]);
        return issued;
      }) as Promise<Issued<DeveloperKey>>;
    },

    async list(owner: KeyOwner): Promise<DeveloperKey[]> {
      await deps.keyUse.flush();
      return findDeveloperKeys(sql, owner.accountId, now());
    },

    async revoke(owner: KeyOwner, keyId: number): Promise<void> {
      await invalidations.commit(revoked(keyId), (tx) => requireRevoked(tx, owner, keyId));
    },

    /** Revokes the old key and issues its successor in one commit, without a gap or an overlap. */
    async rotate(
      owner: KeyOwner,
      keyId: number,
      wanted: Omit<KeyRequest, 'expiresAt'>,
    ): Promise<Issued<DeveloperKey>> {
      return invalidations.commit(revoked(keyId), async (tx) => {
        await lockAccount(tx, owner.accountId);
        await requireRole(tx, owner, 'account');
        const old = await requireRevoked(tx, owner, keyId);
        if (old.expiresAt !== null && old.expiresAt <= now()) throw keyErrors.notFound();
        const successor = await issue(tx, {
          accountId: owner.accountId,
          label: wanted.label ?? old.label,
          permissions: wanted.permissions ?? old.permissions,
          expiresAt: old.expiresAt,
          rotatedFrom: keyId,
          createdBy: owner.wallet,
        });
        await insertEvents(tx, [keyRotated(origin(owner), named(successor.record), keyId)]);
        return successor;
      });
    },
  };
}

const revoked = (keyId: number): Invalidation => ({ kind: 'developer_key_revoked', keyId });
const origin = (owner: KeyOwner) => ({ accountId: owner.accountId, actorWallet: owner.wallet });
const named = (key: DeveloperKey) => ({
  keyId: key.id,
  keyPrefix: key.prefix,
  label: key.label,
});
