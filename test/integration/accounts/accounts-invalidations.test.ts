import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Notice } from '../../../src/accounts/keys/invalidation.ts';
import { insertInvalidations } from '../../../src/accounts/keys/invalidation-store.ts';
import { createInvalidations } from '../../../src/accounts/keys/invalidations.ts';
import { silentLog } from '../../../src/kernel/log.ts';
import { openSql, type SqlTransaction } from '../../../src/platform/postgres/sql.ts';
import { accountsWorld, agentWish } from '../../support/accounts.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase();
});
afterAll(async () => db[Symbol.asyncDispose]());

/** One process that listens: what it heard, in order. */
async function listener(sql = db.sql) {
  const invalidations = createInvalidations({ sql, log: silentLog });
  const heard: Notice[] = [];
  invalidations.subscribe((notice) => heard.push(notice));
  await invalidations.tick();
  heard.length = 0;
  return { invalidations, heard };
}

const changed = (agentId: number) => ({ kind: 'agent_changed', agentId }) as const;

describe('invalidations', () => {
  it('an invalidation reaches another process at its next poll, exactly once', async () => {
    const { invalidations, heard } = await listener();
    await insertInvalidations(db.sql, [changed(1)]);
    await insertInvalidations(db.sql, [{ kind: 'agent_key_revoked', agentId: 1, keyId: 7 }]);
    await insertInvalidations(db.sql, [{ kind: 'developer_key_revoked', keyId: 8 }]);
    expect(heard).toEqual([]);
    await invalidations.tick();
    await invalidations.tick();
    expect(heard).toEqual([
      changed(1),
      { kind: 'agent_key_revoked', agentId: 1, keyId: 7 },
      { kind: 'developer_key_revoked', keyId: 8 },
    ]);
  });

  it('an invalidation reaches a process even when its smaller id commits after a larger id was read', async () => {
    const { invalidations, heard } = await listener();
    let commit = () => {};
    const held = new Promise<void>((resolve) => {
      commit = resolve;
    });
    let published = () => {};
    const isPublished = new Promise<void>((resolve) => {
      published = resolve;
    });
    const late = db.sql.begin(async (tx: SqlTransaction) => {
      await insertInvalidations(tx, [changed(10)]);
      published();
      await held;
    });
    await isPublished;
    await insertInvalidations(db.sql, [changed(11)]);
    await invalidations.tick();
    expect(heard).toEqual([changed(11)]);
    commit();
    await late;
    await invalidations.tick();
    expect(heard).toEqual([changed(11), changed(10)]);
  });

  it('an invalidation that was rolled back is not delivered', async () => {
    const { invalidations, heard } = await listener();
    const failed = db.sql.begin(async (tx: SqlTransaction) => {
      await insertInvalidations(tx, [changed(20)]);
      throw new Error('rolled back');
    });
    await expect(failed).rejects.toThrow('rolled back');
    const refused = invalidations.commit(changed(21), () => Promise.reject(new Error('refused')));
    await expect(refused).rejects.toThrow('refused');
    await invalidations.tick();
    expect(heard).toEqual([]);
  });

  it('a process hears its own invalidation after the commit that raises the rules, and none for an unchanged row', async () => {
    const world = accountsWorld(db.sql);
    const owner = await world.owner('commits');
    const { agentId } = await world.agents.create(owner.accountId, agentWish('commits'));
    const rules = async () => {
      const [row] = await db.sql<{ rules_version: bigint }[]>`
        select rules_version from agent_funds where agent_id = ${agentId}`;
      return BigInt(row?.rules_version ?? -1);
    };
    const before = await rules();
    const { invalidations, heard } = await listener();
    const other = await listener();

    expect(await invalidations.commit(changed(agentId), async () => undefined)).toBeUndefined();
    expect([heard, await rules()]).toEqual([[], before]);

    const answer = await invalidations.commit(changed(agentId), async () => {
      expect(heard).toEqual([]);
      return 'done';
    });
    expect([answer, heard]).toEqual(['done', [changed(agentId)]]);
    expect(await rules()).toBe(before + 1n);
    await other.invalidations.tick();
    expect(other.heard).toEqual([changed(agentId)]);
    // A poll that told it once more would close what was opened since.
    await invalidations.tick();
    expect(heard).toEqual([changed(agentId)]);
  });

  it('a failed invalidation poll is followed by one notice to drop all cached rows', async () => {
    const own = openSql(db.target, 1);
    const { invalidations, heard } = await listener(own);
    await db.sql`alter table invalidations rename to invalidations_away`;
    await expect(invalidations.tick()).rejects.toThrow();
    await db.sql`alter table invalidations_away rename to invalidations`;
    expect(heard).toEqual([]);
    await invalidations.tick();
    expect(heard).toEqual([{ kind: 'everything' }]);
    await invalidations.tick();
    expect(heard).toHaveLength(1);
    await own.end({ timeout: 1 });
  });

  it('an invalidation is deleted long after every living process has read it', async () => {
    await insertInvalidations(db.sql, [changed(30)]);
    await db.sql`update invalidations set at = now() - interval '2 hours' where agent_id = 30`;
    await (await listener()).invalidations.tick();
    expect(await db.sql`select 1 from invalidations where agent_id = 30`).toHaveLength(0);
  });
});

describe('a key or an agent that another process changed', () => {
  it('a key or agent changed by another process is accepted until the next poll and refused from then on', async () => {
    const here = accountsWorld(db.sql);
    const there = accountsWorld(db.sql);
    const owner = await there.owner('two processes');
    const { agentId } = await there.agents.create(owner.accountId, agentWish('shared'));
    const { record, secret } = await there.agentKeys.mint(owner, agentId, {});
    await here.invalidations.tick();
    expect(await here.credentials.agentKey(secret)).toMatchObject({ status: 'active' });

    await there.agents.setStatus(owner.accountId, agentId, 'suspended');
    expect(await there.credentials.agentKey(secret)).toMatchObject({ status: 'suspended' });
    expect(here.credentials.agentKey(secret)).toMatchObject({ status: 'active' });
    await here.invalidations.tick();
    expect(await here.credentials.agentKey(secret)).toMatchObject({ status: 'suspended' });

    await there.agentKeys.revoke(owner, agentId, record.id);
    expect(await there.credentials.agentKey(secret)).toBeUndefined();
    await here.invalidations.tick();
    expect(await here.credentials.agentKey(secret)).toBeUndefined();
  });
});
