import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { retryProvisions } from '../../../src/accounts/agents/retry-provisions.ts';
import { ACCOUNT_LIMITS } from '../../../src/accounts/limits.ts';
import type { Delegation } from '../../../src/accounts/wallets/delegation.ts';
import type { ManagedWallets } from '../../../src/accounts/wallets/managed-wallets.ts';
import { openSealed } from '../../../src/kernel/seal.ts';
import { addressOfPrivateKey } from '../../../src/platform/chain/account.ts';
import { accountsWorld, agentWish } from '../../support/accounts.ts';
import { accountsEdge, PREPAID } from '../../support/accounts-edge.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase();
});
afterAll(async () => db[Symbol.asyncDispose]());

const BORROWER = { borrowLimitRaw: 5_000_000n };
const eventsOf = (accountId: string) =>
  db.sql`select name, payload from events where account_id = ${accountId} order by id`;

/** A delegation that fails until it is mended. */
function brittleDelegation(mended: Delegation) {
  const state = { broken: true, asked: 0 };
  const delegation: Delegation = {
    async grant(permission) {
      state.asked++;
      if (state.broken) throw new Error('the node is away');
      return mended.grant(permission);
    },
  };
  return { state, delegation };
}

describe('provisioning', () => {
  it('provisioning a prepaid agent creates its wallet and expiry, and delegates nothing', async () => {
    const world = accountsWorld(db.sql);
    const { accountId } = await world.owner('prepaid');
    const agent = await world.agents.create(accountId, agentWish('prepaid'));
    const expiry = Math.floor(world.clock.now() / 1_000) + 3_600;
    expect(agent).toMatchObject({
      status: 'active',
      fundingMode: 'wallet',
      creditLimit: null,
      delegationTxHash: null,
      delegationActive: true,
      operatorExpiry: String(expiry),
    });
    expect(agent.managedWalletAddress).toMatch(/^0x[0-9a-f]{40}$/);
    expect(await eventsOf(accountId)).toMatchObject([
      {
        name: 'agent.created',
        payload: { agentId: agent.agentId, name: 'prepaid', fundingMode: 'wallet' },
      },
    ]);
  });

  it('provisioning a borrowing agent delegates within exactly its borrow limit, rate and expiry', async () => {
    const world = accountsWorld(db.sql);
    const { accountId } = await world.owner('borrower');
    const agent = await world.agents.create(accountId, agentWish('borrower', BORROWER));
    expect(agent).toMatchObject({ fundingMode: 'credit_line', creditLimit: '5000000' });
    expect(agent.delegationTxHash).toMatch(/^0x[0-9a-f]{64}$/);
    const [permission] = await db.sql`
      select * from operator_permissions where agent_id = ${agent.agentId}`;
    expect(permission).toMatchObject({
      borrow_limit_raw: 5_000_000n,
      max_rate_bps: 1_000,
      expiry: BigInt(agent.operatorExpiry ?? 0),
      on_behalf_of: agent.managedWalletAddress,
      approved: true,
      tx_hash: agent.delegationTxHash,
    });
  });

  it('an agent whose delegation fails is kept, reported as pending, and activated by a later attempt', async () => {
    const { localDelegation } = accountsWorld(db.sql);
    const { state, delegation } = brittleDelegation(localDelegation);
    const world = accountsWorld(db.sql, { delegation });
    const { accountId } = await world.owner('unlucky');
    const failure = world.agents.create(accountId, agentWish('unlucky', BORROWER));
    await expect(failure).rejects.toMatchObject({ status: 502, error: 'delegation_failed' });
    const [pending] = await world.agents.list(accountId);
    expect(pending).toMatchObject({
      status: 'pending_delegation',
      delegationActive: false,
      operatorExpiry: null,
    });
    expect(await eventsOf(accountId)).toEqual([]);
    await expect(
      world.agents.setStatus(accountId, pending?.id ?? 0, 'suspended'),
    ).rejects.toMatchObject({ status: 409, error: 'invalid_status_transition' });

    const retry = retryProvisions(world.agentsDeps);
    await retry.tick();
    expect(state.asked).toBe(1);
    world.clock.advance(ACCOUNT_LIMITS.provisioning.retry.first);
    await retry.tick();
    expect(state.asked).toBe(2);
    state.broken = false;
    world.clock.advance(ACCOUNT_LIMITS.provisioning.retry.first * 2);
    await retry.tick();
    expect(await world.agents.list(accountId)).toMatchObject([
      { status: 'active', delegationActive: true },
    ]);
    expect(await eventsOf(accountId)).toMatchObject([{ name: 'agent.created' }]);
    world.clock.advance(ACCOUNT_LIMITS.provisioning.retry.max);
    await retry.tick();
    expect(state.asked).toBe(3);
  });

  it('provisioning is retried for as long as the agent is open, and its record shows step, attempts and next attempt', async () => {
    const { localDelegation } = accountsWorld(db.sql);
    const { state, delegation } = brittleDelegation(localDelegation);
    const world = accountsWorld(db.sql, { delegation });
    const { accountId } = await world.owner('patient');
    await world.agents.create(accountId, agentWish('patient', BORROWER)).catch(() => {});
    const retry = retryProvisions(world.agentsDeps);
    for (let i = 0; i < 40; i++) {
      world.clock.advance(ACCOUNT_LIMITS.provisioning.retry.max);
      await retry.tick();
    }
    expect(state.asked).toBe(41);
    const nextAttemptAt = new Date(
      world.clock.now() + ACCOUNT_LIMITS.provisioning.retry.max,
    ).toISOString();
    expect(await world.agents.list(accountId)).toMatchObject([
      {
        status: 'pending_delegation',
        provisioning: { step: 'delegation', attempts: 41, nextAttemptAt },
      },
    ]);
    state.broken = false;
    world.clock.advance(ACCOUNT_LIMITS.provisioning.retry.max);
    await retry.tick();
    expect(await world.agents.list(accountId)).toMatchObject([
      { status: 'active', provisioning: null },
    ]);
  });

  it('provisioning resumes for an agent that an earlier version gave up', async () => {
    const { localDelegation } = accountsWorld(db.sql);
    const { state, delegation } = brittleDelegation(localDelegation);
    const world = accountsWorld(db.sql, { delegation });
    const { accountId } = await world.owner('given up');
    await world.agents.create(accountId, agentWish('given up', BORROWER)).catch(() => {});
    const [stuck] = await world.agents.list(accountId);
    await db.sql`
      update agents set provision_next_at = null, provision_attempts = 21
      where id = ${stuck?.id ?? 0}`;
    state.broken = false;
    await retryProvisions(world.agentsDeps).tick();
    expect(await world.agents.list(accountId)).toMatchObject([{ status: 'active' }]);
  });

  it('closing an agent ends its provisioning and frees its slot and its name', async () => {
    const { localDelegation } = accountsWorld(db.sql);
    const { state, delegation } = brittleDelegation(localDelegation);
    const world = accountsWorld(db.sql, { delegation });
    const { accountId } = await world.owner('hopeless');
    await world.agents.create(accountId, agentWish('hopeless', BORROWER)).catch(() => {});
    const [stuck] = await world.agents.list(accountId);
    expect(await world.agents.close(accountId, stuck?.id ?? 0)).toMatchObject({ status: 'closed' });
    world.clock.advance(ACCOUNT_LIMITS.provisioning.retry.max);
    await retryProvisions(world.agentsDeps).tick();
    expect(state.asked).toBe(1);
    await world.agents.create(accountId, agentWish('hopeless'));
  });

  it('provisioning is taken over when the process that began it is gone', async () => {
    let fail = true;
    const inner = accountsWorld(db.sql);
    const wallets: ManagedWallets = {
      ...inner.localWallets,
      provide: (reference) =>
        fail ? new Promise<string>(() => {}) : inner.localWallets.provide(reference),
    };
    const world = accountsWorld(db.sql, { wallets });
    const { accountId } = await world.owner('orphan');
    void world.agents.create(accountId, agentWish('orphan'));
    await expect.poll(() => world.agents.list(accountId)).toHaveLength(1);
    fail = false;
    const retry = retryProvisions(world.agentsDeps);
    await retry.tick();
    expect(await world.agents.list(accountId)).toMatchObject([{ status: 'pending_delegation' }]);
    world.clock.advance(ACCOUNT_LIMITS.provisioning.leaseMs);
    await retry.tick();
    expect(await world.agents.list(accountId)).toMatchObject([{ status: 'active' }]);
  });

  it('creating an agent answers 502 when the wallet cannot be created', async () => {
    const refuse = () => Promise.reject(new Error('refused'));
    const wallets: ManagedWallets = { provide: refuse, signTransfer: refuse };
    const world = accountsWorld(db.sql, { wallets });
    const { accountId } = await world.owner('no wallet');
    const failure = world.agents.create(accountId, agentWish('walletless'));
    await expect(failure).rejects.toMatchObject({
      status: 502,
      error: 'managed_provisioning_failed',
    });
    await expect(failure).rejects.toHaveProperty('fields.agentId');
  });

  it('creating an agent answers 503 when wallets or the facilitator are not configured', async () => {
    const bare = accountsWorld(db.sql, { wallets: undefined });
    const { accountId } = await bare.owner('bare');
    for (const attempt of [
      bare.agents.create(accountId, agentWish('x')),
      bare.agents.list(accountId),
      bare.agents.detail(accountId, 1),
    ]) {
      await expect(attempt).rejects.toMatchObject({
        status: 503,
        error: 'agent_features_unavailable',
      });
    }
    const gasless = accountsWorld(db.sql, { delegation: undefined });
    await expect(gasless.agents.create(accountId, agentWish('x'))).rejects.toMatchObject({
      status: 503,
      error: 'agent_creation_unavailable',
    });
    expect(await gasless.agents.list(accountId)).toEqual([]);
  });
});

describe('a server without wallet variables', () => {
  it('a server without wallet variables refuses the agent record routes, and serves every other route', async () => {
    const whole = accountsWorld(db.sql);
    await using before = await accountsEdge(whole);
    const { headers, key, minted, path } = await before.agentOf('lost its wallet');
    await using edge = await accountsEdge(accountsWorld(db.sql, { wallets: undefined }));
    const statusOf = async (method: string, place: string, body?: unknown) => {
      const by = place.startsWith('/v1/agents') ? key : headers;
      const answer = await edge.ask(method, place, { headers: by, body });
      return [method, place, answer.status, answer.body.error ?? ''];
    };
    const list = '/v1/developer/agents';
    const refused = [
      await statusOf('POST', list, PREPAID),
      await statusOf('GET', list),
      await statusOf('GET', `${list}/rollup`),
      await statusOf('GET', path),
      await statusOf('PATCH', `${path}/status`, { status: 'suspended' }),
      await statusOf('POST', `${path}/renew-delegation`, {}),
      await statusOf('POST', `${path}/close`),
      await statusOf('POST', '/v1/agents/close'),
    ];
    for (const row of refused) expect(row.slice(2)).toEqual([503, 'agent_features_unavailable']);

    const served = [
      await statusOf('GET', `${path}/keys`),
      await statusOf('POST', `${path}/keys`),
      await statusOf('GET', `${path}/policies`),
      await statusOf('GET', `${path}/spend-limit`),
      await statusOf('GET', '/v1/agents/balance'),
      await statusOf('GET', '/v1/agents/policies'),
      await statusOf('DELETE', `${path}/keys/${minted.id}`),
    ];
    for (const [, place, status] of served) {
      expect([200, 201], String(place)).toContain(status);
    }
  });
});

describe('local wallets', () => {
  it('local wallets store the key of each wallet sealed, and recover it unchanged', async () => {
    const world = accountsWorld(db.sql);
    const address = await world.localWallets.provide('acct_x:1');
    expect(await world.localWallets.provide('acct_x:1')).toBe(address);
    const [row] = await db.sql<{ sealed_key: Buffer }[]>`
      select sealed_key from managed_wallets where reference = 'acct_x:1'`;
    const sealed = row?.sealed_key ?? Buffer.alloc(0);
    const key = openSealed('app secret of the tests', 'acct_x:1', sealed);
    expect(await addressOfPrivateKey(key)).toBe(address);
    expect(sealed.includes(Buffer.from(key))).toBe(false);
    expect(() => openSealed('another secret', 'acct_x:1', sealed)).toThrow();
    expect(() => openSealed('app secret of the tests', 'acct_x:2', sealed)).toThrow();
  });
});
