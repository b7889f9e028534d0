import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AwareWorld, bearer, startAwareWorld } from '../support/aware-world.ts';
import { addPolicy } from '../support/policies.ts';
import { askGuide, type Developer, moneyOf, newDeveloper } from '../support/whole-world.ts';

let aware: AwareWorld;
let stranger: Developer;
beforeAll(async () => {
  aware = await startAwareWorld();
  stranger = await newDeveloper(aware.world.api, 'stranger');
});
afterAll(async () => {
  await aware[Symbol.asyncDispose]();
});

const chainOf = (agentId: number | string, headers: Headers = aware.developer.headers) =>
  aware.to(`/v1/developer/agents/${agentId}/limit-chain`, { headers });
const resolve = (
  agentId: number | string,
  body: unknown,
  headers: Headers = aware.developer.headers,
) => aware.to(`/v1/developer/agents/${agentId}/resolve`, { headers, body });

type Headers = Readonly<Record<string, string>>;

describe('the limit chain', () => {
  it('the limit chain has the caps of the agent and of its team by id, and the balance last', async () => {
    await using agent = await aware.agentWith(1_000_000n);
    const accountId = await aware.accountOf(agent.agentId);
    const daily = { kind: 'api', matchKey: '.acme.test', calendarUnit: 'day' } as const;
    const own = await aware.policy(agent.agentId, {
      ...daily,
      windowKind: 'calendar',
      limitRaw: 90_000n,
      label: 'tools',
    });
    const session = await aware.policy(agent.agentId, { kind: 'session', limitRaw: 500_000n });
    const team = await addPolicy(aware.world.sql, {
      accountId,
      agentId: null,
      kind: 'vendor',
      matchKey: `0x${'ab'.repeat(20)}`,
      limitRaw: 400_000n,
    });
    const bought = await askGuide(aware.world.url, agent.key);
    const cost = `${BigInt(bought.headers.get('x-svc-cost-usdc') ?? '0')}`;
    const { body, status } = await chainOf(agent.agentId);
    expect(status).toBe(200);
    const rest = (limit: bigint) => `${limit - BigInt(cost)}`;
    expect(body).toMatchObject({ agentId: agent.agentId, asOf: expect.stringMatching(/Z$/) });
    expect(body.chain).toEqual([
      {
        scope: 'agent',
        kind: 'api',
        label: 'tools',
        policyId: own,
        matchKey: '.acme.test',
        limitRaw: '90000',
        spentRaw: '0',
        remainingRaw: '90000',
        windowKind: 'calendar',
        windowResetsAt: expect.stringMatching(/T00:00:00\.000Z$/),
      },
      {
        scope: 'agent',
        kind: 'session',
        label: null,
        policyId: session,
        matchKey: null,
        limitRaw: '500000',
        spentRaw: cost,
        remainingRaw: rest(500_000n),
        windowKind: 'session',
        windowResetsAt: null,
      },
      {
        scope: 'developer',
        kind: 'vendor',
        label: null,
        policyId: team,
        matchKey: `0x${'ab'.repeat(20)}`,
        limitRaw: '400000',
        spentRaw: '0',
        remainingRaw: '400000',
        windowKind: 'rolling',
        windowResetsAt: null,
      },
      {
        scope: 'balance',
        kind: null,
        label: null,
        policyId: null,
        matchKey: null,
        limitRaw: '1000000',
        spentRaw: cost,
        remainingRaw: rest(1_000_000n),
        windowKind: null,
        windowResetsAt: null,
      },
    ]);
    await aware.world.sql`update policies set revoked_at = now() where id = ${team}`;
  });

  it('the limit chain is readable with a read-only key', async () => {
    await using agent = await aware.agentWith(1n);
    const { key } = await aware.world.api.call<{ key: string }>('POST', '/v1/developer/keys', {
      headers: await aware.developer.sign(),
      body: { permissions: 'read' },
    });
    expect((await chainOf(agent.agentId, bearer(key))).status).toBe(200);
    const asked = await resolve(agent.agentId, { host: 'a.test', amountRaw: '1' }, bearer(key));
    expect(asked).toMatchObject({ status: 403, body: { error: 'read_only_key' } });
  });

  it('the limit chain is not visible to another developer', async () => {
    await using agent = await aware.agentWith(1n);
    const absent = { status: 404, body: { error: 'not_found' } };
    expect(await chainOf(agent.agentId, stranger.headers)).toMatchObject(absent);
    expect(await chainOf(2_147_483_647)).toMatchObject(absent);
    expect(await chainOf('99999999999999')).toMatchObject(absent);
    expect(await chainOf('x1')).toMatchObject({ status: 400, body: { error: 'Invalid request' } });
    expect(await chainOf(agent.agentId, {})).toMatchObject({
      status: 401,
      body: { error: 'Unauthorized' },
    });
    expect(await chainOf(agent.agentId, bearer(agent.key))).toMatchObject({
      status: 401,
      body: { error: 'developer_credential_required' },
    });
  });
});

describe('what would become of a payment', () => {
  const question = { host: 'api.acme.test', amountRaw: '1000' };

  it('a spend resolve approves a payment with the limit that binds it, and moves no money', async () => {
    await using agent = await aware.agentWith(1_000_000n);
    await aware.policy(agent.agentId, { kind: 'api', matchKey: 'api.acme.test', limitRaw: 5_000n });
    const before = await moneyOf(aware.world.sql, agent.agentId);
    const told = await resolve(agent.agentId, question);
    expect(told.status).toBe(200);
    expect(told.body).toMatchObject({
      decision: 'approve',
      effectiveRemainingRaw: '5000',
      binding: { scope: 'agent', kind: 'api', limitRaw: '5000', remainingRaw: '5000' },
    });
    expect((await resolve(agent.agentId, { ...question, host: 'b.test' })).body).toMatchObject({
      effectiveRemainingRaw: '1000000',
      binding: { scope: 'balance', kind: null },
    });
    expect(await moneyOf(aware.world.sql, agent.agentId)).toEqual(before);
  });

  it('a spend resolve declines with the error that the call would get, for every control', async () => {
    await using agent = await aware.agentWith(10_000n);
    const { agentId } = agent;
    const decline = async (body: object) => {
      const { body: told, status } = await resolve(agentId, { ...question, ...body });
      expect([status, told.decision]).toEqual([200, 'decline']);
      const { decline: refused } = told as { decline: Record<string, unknown> };
      expect(refused.message).toBe(refused.detail);
      return refused;
    };
    expect(await decline({ amountRaw: '10001' })).toMatchObject({
      error: 'insufficient_balance',
      available: '10000',
      required: '10001',
    });
    expect(await decline({ host: 'no host' })).toMatchObject({ error: 'unresolvable_host' });
    const task = await aware.policy(agentId, { kind: 'task', matchKey: 'errand', limitRaw: 900n });
    expect(await decline({ taskId: ' Errand ' })).toMatchObject({
      error: 'policy_exceeded',
      kind: 'task',
      matchKey: 'errand',
      policyId: task,
      required: '1000',
      spent: '0',
      limit: '900',
      label: null,
      reason: null,
    });
    const session = await aware.policy(agentId, { kind: 'session', limitRaw: 999n });
    expect(await decline({})).toEqual({
      error: 'spend_limit_exceeded',
      required: '1000',
      spent: '0',
      limit: '999',
      available: '999',
      message: expect.any(String),
      detail: expect.any(String),
    });
    await aware.world.sql`update policies set revoked_at = now() where id = ${session}`;
    const mode = (to: string) =>
      aware.world.sql`update agents set allowlist_mode = ${to} where id = ${agentId}`;
    await mode('both');
    expect(await decline({})).toMatchObject({ error: 'host_not_allowlisted' });
    await aware.policy(agentId, { kind: 'api', matchKey: 'api.acme.test', limitRaw: 5_000n });
    expect(await decline({})).toMatchObject({ error: 'unresolvable_recipient' });
    const recipient = `0x${'Ab'.repeat(20)}`;
    expect(await decline({ recipient })).toMatchObject({
      error: 'vendor_not_allowlisted',
      recipient: recipient.toLowerCase(),
      host: 'api.acme.test',
    });
    await mode('off');
    await aware.to(`/v1/developer/agents/${agentId}/status`, {
      method: 'PATCH',
      headers: aware.developer.headers,
      body: { status: 'suspended' },
    });
    expect(await decline({})).toMatchObject({ error: 'agent_suspended' });
  });

  it('a spend resolve counts a rotated key under the budget of its first key, and refuses a key that is gone', async () => {
    await using agent = await aware.agentWith(10_000n);
    const path = `/v1/developer/agents/${agent.agentId}/keys/${agent.keyId}/rotate`;
    const rotated = await aware.to(path, { method: 'POST', headers: aware.developer.headers });
    const keyId = Number(rotated.body.keyId);
    const matchKey = String(agent.keyId);
    await aware.policy(agent.agentId, { kind: 'key', matchKey, limitRaw: 10n });
    const told = await resolve(agent.agentId, { ...question, keyId });
    expect(told.body).toMatchObject({ decision: 'decline', decline: { kind: 'key', matchKey } });
    expect((await resolve(agent.agentId, question)).body).toMatchObject({ decision: 'approve' });
    await using other = await aware.agentWith(1n);
    for (const gone of [agent.keyId, other.keyId, 2_000_000_000]) {
      expect(await resolve(agent.agentId, { ...question, keyId: gone })).toMatchObject({
        status: 404,
        body: { error: 'Key not found' },
      });
    }
  });

  it('a spend resolve is refused to another developer', async () => {
    await using agent = await aware.agentWith(1n);
    const absent = { status: 404, body: { error: 'not_found' } };
    expect(await resolve(agent.agentId, question, stranger.headers)).toMatchObject(absent);
    expect(await resolve(2_147_483_647, question)).toMatchObject(absent);
    expect((await resolve('1.5', question)).status).toBe(400);
    expect((await resolve(agent.agentId, question, {})).status).toBe(401);
  });

  const LARGE = `1${'0'.repeat(15)}`;
  it.each<[string, object, string]>([
    ['no amount', { amountRaw: undefined }, 'amountRaw'],
    ['a number', { amountRaw: 1_000 }, 'amountRaw'],
    ['less than nothing', { amountRaw: '-1' }, 'amountRaw'],
    ['a fraction', { amountRaw: '1.5' }, 'amountRaw'],
    ['an exponent', { amountRaw: '1e3' }, 'amountRaw'],
    ['hexadecimal', { amountRaw: '0x10' }, 'amountRaw'],
    ['leading zeroes', { amountRaw: '007' }, 'amountRaw'],
    ['nothing', { amountRaw: '' }, 'amountRaw'],
    ['beyond the bound', { amountRaw: `${BigInt(LARGE) + 1n}` }, 'amountRaw'],
    ['2^300', { amountRaw: `${2n ** 300n}` }, 'amountRaw'],
    ['no host', { host: undefined }, 'host'],
    ['an empty host', { host: '' }, 'host'],
    ['a long host', { host: 'a'.repeat(256) }, 'host'],
    ['a host that is a list', { host: ['a.test'] }, 'host'],
    ['a recipient that is none', { recipient: '0x12' }, 'recipient'],
    ['a recipient in words', { recipient: 'alice' }, 'recipient'],
    ['an empty task', { taskId: ' ' }, 'taskId'],
    ['a long task', { taskId: 't'.repeat(129) }, 'taskId'],
    ['a key in words', { keyId: '7' }, 'keyId'],
    ['a broken key', { keyId: 1.5 }, 'keyId'],
    ['the key zero', { keyId: 0 }, 'keyId'],
  ])('a spend resolve with an invalid field is refused: %s', async (_, bad, path) => {
    const told = await resolve(1, { ...question, ...bad }, stranger.headers);
    expect([told.status, told.body.error]).toEqual([400, 'Invalid request']);
    expect(told.body.details).toMatchObject([{ path: [path], message: expect.any(String) }]);
  });

  it('a spend resolve accepts the largest possible amount', async () => {
    await using agent = await aware.agentWith(1n);
    const told = await resolve(agent.agentId, { ...question, amountRaw: LARGE });
    expect(told.body).toMatchObject({ decline: { required: LARGE } });
  });
});
