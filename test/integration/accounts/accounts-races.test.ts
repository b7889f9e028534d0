import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accountsWorld, agentWish } from '../../support/accounts.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { testWallet } from '../../support/wallet.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase(12);
});
afterAll(async () => db[Symbol.asyncDispose]());

const TEN = Array.from({ length: 10 }, (_, i) => i);

/** What became of many attempts at once: how many succeeded, and the refusals of the others. */
async function race<T>(attempts: readonly Promise<T>[]) {
  const outcomes = await Promise.allSettled(attempts);
  return {
    won: outcomes.flatMap((o) => (o.status === 'fulfilled' ? [o.value] : [])),
    refusals: outcomes.flatMap((o) => (o.status === 'rejected' ? [o.reason] : [])),
  };
}

describe('races', () => {
  it('ten concurrent creations in two processes make exactly five agents', async () => {
    const worlds = [accountsWorld(db.sql), accountsWorld(db.sql)] as const;
    const { accountId } = await worlds[0].owner('ten agents');
    const { won, refusals } = await race(
      TEN.map((i) => worlds[i % 2 === 0 ? 0 : 1].agents.create(accountId, agentWish(`agent ${i}`))),
    );
    expect(won).toHaveLength(5);
    expect(new Set(won.map((agent) => agent.managedWalletAddress)).size).toBe(5);
    for (const refusal of refusals) {
      expect(refusal).toMatchObject({ status: 409, error: 'limit_exceeded', fields: { max: 5 } });
    }
    const events = await db.sql`
      select 1 from events where name = 'agent.created' and account_id = ${accountId}`;
    expect(events).toHaveLength(5);
  });

  it('concurrent creations of agents with one name give the name to one of them', async () => {
    const world = accountsWorld(db.sql);
    const { accountId } = await world.owner('one name');
    const { won, refusals } = await race(
      TEN.map(() => world.agents.create(accountId, agentWish('the one'))),
    );
    expect(won).toHaveLength(1);
    expect(refusals).toHaveLength(9);
    for (const refusal of refusals) {
      expect(refusal).toMatchObject({ status: 409, error: 'name_conflict' });
    }
  });

  it('ten concurrent mints make exactly five agent keys', async () => {
    const world = accountsWorld(db.sql);
    const owner = await world.owner('ten mints');
    const { agentId } = await world.agents.create(owner.accountId, agentWish('minter'));
    const { won, refusals } = await race(
      TEN.map(() => world.agentKeys.mint(owner, agentId, { label: 'raced' })),
    );
    expect(won).toHaveLength(5);
    for (const refusal of refusals) {
      expect(refusal).toMatchObject({ status: 409, error: 'limit_exceeded', fields: { max: 5 } });
    }
    expect(await world.agentKeys.list(owner, agentId)).toHaveLength(5);
  });

  it('ten concurrent creations make exactly five developer keys', async () => {
    const world = accountsWorld(db.sql);
    const owner = await world.owner('ten developer keys');
    const { won, refusals } = await race(TEN.map(() => world.developerKeys.create(owner, {})));
    expect(won).toHaveLength(5);
    for (const refusal of refusals) {
      expect(refusal).toMatchObject({
        status: 400,
        error: 'Limit exceeded',
        fields: { message: 'Maximum 5 API keys allowed' },
      });
    }
  });

  it('a concurrent revoke and rotation of one key let one succeed, and the other finds no key', async () => {
    const world = accountsWorld(db.sql);
    const owner = await world.owner('revoke and rotate');
    const { agentId } = await world.agents.create(owner.accountId, agentWish('contested'));
    for (let round = 0; round < 5; round++) {
      const { record, secret } = await world.agentKeys.mint(owner, agentId, {});
      const outcomes = await race<unknown>([
        world.agentKeys.revoke(owner, agentId, record.id),
        world.agentKeys.rotate(owner, agentId, record.id, {}),
        world.agentKeys.revoke(owner, agentId, record.id),
      ]);
      expect(outcomes.won).toHaveLength(1);
      for (const refusal of outcomes.refusals) {
        expect(refusal).toMatchObject({ status: 404, error: 'Key not found' });
      }
      expect(await world.credentials.agentKey(secret)).toBeUndefined();
      const left = await world.agentKeys.list(owner, agentId);
      expect(left.length).toBeLessThanOrEqual(1);
      for (const key of left) await world.agentKeys.revoke(owner, agentId, key.id);
    }
  });

  it('concurrent sign-ins of one wallet make one account', async () => {
    const world = accountsWorld(db.sql);
    const proof = await testWallet('newcomer').sign(world.clock.now());
    const callers = await Promise.all(TEN.map(() => world.credentials.signature(proof)));
    expect(new Set(callers.map((caller) => caller.accountId)).size).toBe(1);
    expect(callers[0]?.accountId).toMatch(/^acct_[0-9a-f]{12}$/);
  });

  it('concurrent opposite status changes all succeed in turn, or the losers are refused with status_conflict', async () => {
    const world = accountsWorld(db.sql);
    const { accountId } = await world.owner('status race');
    const { agentId } = await world.agents.create(accountId, agentWish('flickering'));
    const { won, refusals } = await race(
      TEN.map((i) =>
        world.agents.setStatus(accountId, agentId, i % 2 === 0 ? 'suspended' : 'active'),
      ),
    );
    expect(won.length).toBeGreaterThan(0);
    for (const refusal of refusals) {
      expect(refusal).toMatchObject({ status: 409, error: 'status_conflict' });
    }
  });
});
