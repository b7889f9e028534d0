import { describe, expect, it } from 'vitest';
import { useControls } from '../../support/controls-world.ts';

const controls = useControls();

type Headers = Record<string, string>;
const NEVER = { active: false, limitRaw: null, sessionStartedAt: null };
const active = (limitRaw: string, spent: string, remaining: string) => ({
  active: true,
  limitRaw,
  sessionSpentRaw: spent,
  sessionRemainingRaw: remaining,
  sessionStartedAt: expect.stringMatching(/^\d{4}-.*Z$/),
});

describe('the limit of a session', () => {
  it('the limit of a session is read, set and cleared by agent and developer routes, and binds the spend', async () => {
    const { ask, spend, refused, open, release } = controls.on;
    const made = await controls.on.agent();
    const { agentId, path } = made;
    const planes = [
      ['/v1/agents/spend-limit', made.key],
      [`${path}/spend-limit`, made.headers],
    ] as const;
    for (const [at, headers] of planes) {
      const read = async () => (await ask('GET', at, { headers })).body;
      const set = (limitRaw: string) => ask('PUT', at, { headers, body: { limitRaw } });
      expect(await read()).toEqual(NEVER);
      const first = await set('100');
      expect([first.status, first.body]).toEqual([200, active('100', '0', '100')]);
      await spend(agentId, 70n);
      expect(await read()).toEqual({ ...first.body, ...active('100', '70', '30') });
      expect(await refused(agentId, 31n)).toBe('cap_exceeded');
      const held = await open(agentId, 30n);
      expect(await read()).toMatchObject({ sessionSpentRaw: '100', sessionRemainingRaw: '0' });

      // Set anew: what was settled is forgotten, what is held is not.
      const again = await set('100');
      expect([again.status, again.body]).toEqual([200, active('100', '30', '70')]);
      expect(again.body.sessionStartedAt > first.body.sessionStartedAt).toBe(true);
      await release(held);
      expect(await read()).toEqual({ ...again.body, ...active('100', '0', '100') });

      const detail = (await ask('GET', path, { headers: made.headers })).body;
      expect(detail.agent.sessionSpendLimitRaw).toBe('100');
      expect(detail.sessionSpend).toEqual({
        limitRaw: '100',
        startedAtUnix: Math.floor(Date.parse(again.body.sessionStartedAt) / 1_000),
      });
      const { agents } = (await ask('GET', '/v1/developer/agents', { headers: made.headers })).body;
      expect(agents[0].sessionSpendLimitRaw).toBe('100');

      for (let times = 0; times < 2; times++) {
        const cleared = await ask('DELETE', at, { headers });
        expect([cleared.status, cleared.body]).toEqual([
          200,
          { active: false, limitRaw: null, status: 'cleared' },
        ]);
      }
      expect(await read()).toEqual(NEVER);
      expect(await refused(agentId, 500n)).toBeUndefined();
    }
    const detail = (await ask('GET', path, { headers: made.headers })).body;
    expect(detail.agent.sessionSpendLimitRaw).toBeNull();
    expect(detail.sessionSpend).toEqual({ limitRaw: null, startedAtUnix: null });
  });

  it('concurrent requests that set the limit of a session leave exactly one limit', async () => {
    const { ask, sql } = controls.on;
    const { agentId, path, headers, key } = await controls.on.agent();
    const told = await Promise.all(
      Array.from({ length: 8 }, (_, i) =>
        ask('PUT', i % 2 ? '/v1/agents/spend-limit' : `${path}/spend-limit`, {
          headers: i % 2 ? key : headers,
          body: { limitRaw: String(i + 1) },
        }),
      ),
    );
    expect(told.map(({ status }) => status)).toEqual(told.map(() => 200));
    const rows =
      await sql`select id from policies where agent_id = ${agentId} and revoked_at is null`;
    expect(rows).toHaveLength(1);
  });

  it("the session limit of another developer's agent reads as absent", async () => {
    const { ask } = controls.on;
    const { path } = await controls.on.agent();
    const { headers } = await controls.on.agent();
    const routes = [
      ...(['GET', 'PUT', 'DELETE'] as const).map(
        (m) => [m, 'spend-limit', { limitRaw: '5' }] as const,
      ),
      ...(['GET', 'PUT'] as const).map((m) => [m, 'allowlist-mode', { mode: 'off' }] as const),
      ...(['GET', 'PUT'] as const).map((m) => [m, 'self-service-lock', { locked: true }] as const),
      ['POST', 'pre-borrow', { taskId: 't', amountRaw: '5' }] as const,
    ];
    for (const [method, tail, body] of routes) {
      const told = await ask(method, `${path}/${tail}`, {
        headers,
        ...(method !== 'GET' && method !== 'DELETE' && { body }),
      });
      expect([told.status, told.body.error], `${method} ${tail}`).toEqual([404, 'not_found']);
    }
  });
});

describe('the allowlist mode', () => {
  it('the allowlist mode is set by agent and developer routes, warns when nothing is allowed, and decides calls', async () => {
    const { ask, refused } = controls.on;
    const { agentId, path, headers, key } = await controls.on.agent();
    const payee = `0x${'a'.repeat(40)}`;
    const paid = { host: 'api.x.com', payee };
    const planes: readonly (readonly [string, Headers])[] = [
      ['/v1/agents/allowlist-mode', key],
      [`${path}/allowlist-mode`, headers],
    ];
    for (const [at, as] of planes) {
      const set = async (mode: string) =>
        (await ask('PUT', at, { headers: as, body: { mode } })).body;
      expect((await ask('GET', at, { headers: as })).body).toEqual({ mode: 'off' });
      const warning = (...dimensions: string[]) => ({ code: 'no_active_entries', dimensions });
      expect(await set('both')).toEqual({ mode: 'both', warning: warning('host', 'vendor') });
      expect((await ask('GET', at, { headers: as })).body).toEqual({ mode: 'both' });
      expect(await refused(agentId, 5n, paid)).toBe('host_not_allowlisted');

      const entry = { kind: 'api', matchKey: '.x.com', limitRaw: '1000' };
      const made = await ask('POST', `${path}/policies`, { headers, body: entry });
      expect(await set('both')).toEqual({ mode: 'both', warning: warning('vendor') });
      expect(await set('host')).toEqual({ mode: 'host' });
      expect(await refused(agentId, 5n, paid)).toBeUndefined();
      expect(await set('vendor')).toEqual({ mode: 'vendor', warning: warning('vendor') });
      expect(await refused(agentId, 5n, paid)).toBe('vendor_not_allowlisted');

      const team = { kind: 'vendor', matchKey: payee, limitRaw: '1000' };
      const shared = await ask('POST', '/v1/developer/policies', { headers, body: team });
      expect(await set('both')).toEqual({ mode: 'both' });
      expect(await refused(agentId, 5n, paid)).toBeUndefined();
      await ask('DELETE', `${path}/policies/${made.body.policy.id}`, { headers });
      await ask('DELETE', `/v1/developer/policies/${shared.body.policy.id}`, { headers });
      expect(await set('off')).toEqual({ mode: 'off' });
      expect(await refused(agentId, 5n, paid)).toBeUndefined();
      const bad = await ask('PUT', at, { headers: as, body: { mode: 'on' } });
      expect([bad.status, bad.body.error]).toEqual([400, 'Invalid request']);
    }
  });
});

describe('money kept for a task', () => {
  it('money that is pre-borrowed for a task is spendable by that task alone, once, and only when the balance has it', async () => {
    const { ask, refused, spend } = controls.on;
    const { agentId, path, headers, key } = await controls.on.agent(1_000n);
    const keep = (taskId: string, amountRaw: string, more: object = {}) =>
      ask('POST', `${path}/pre-borrow`, { headers, body: { taskId, amountRaw, ...more } });
    const cap = { kind: 'task', matchKey: 'job', limitRaw: '900' };
    expect((await ask('POST', '/v1/agents/policies', { headers: key, body: cap })).status).toBe(
      201,
    );

    const kept = await keep(' Job ', '600');
    expect([kept.status, kept.body]).toEqual([
      201,
      {
        policyId: expect.any(Number),
        taskId: 'job',
        limitRaw: '600',
        expiresAt: expect.any(Number),
        expiresAtIso: new Date(kept.body.expiresAt * 1_000).toISOString(),
      },
    ]);
    expect(kept.body.expiresAt * 1_000 - Date.now()).toBeGreaterThan(3_590_000);
    const again = await keep('job', '1');
    expect([again.status, again.body]).toMatchObject([
      409,
      { error: 'task_already_held', policyId: kept.body.policyId },
    ]);
    const tooMuch = await keep('other', '401');
    expect([tooMuch.status, tooMuch.body]).toMatchObject([
      402,
      { error: 'insufficient_balance', available: '400', required: '401' },
    ]);
    expect((await keep('other', '400', { ttlSeconds: 86_400 })).status).toBe(201);

    expect(await refused(agentId, 1n)).toBe('insufficient_balance');
    expect(await refused(agentId, 601n, { taskId: 'job' })).toBe('insufficient_balance');
    await spend(agentId, 600n, { taskId: 'job' });
    expect(await refused(agentId, 1n, { taskId: 'job' })).toBe('insufficient_balance');
    const list = (await ask('GET', `${path}/policies`, { headers })).body.policies;
    expect(list.find(({ id }: { id: number }) => id === kept.body.policyId)).toMatchObject({
      kind: 'task',
      windowKind: 'once',
      reserves: true,
      spentRaw: '600',
      remainingRaw: '0',
    });
    await ask('DELETE', `${path}/policies/${kept.body.policyId}`, { headers });
    expect((await keep('job', '1')).status).toBe(402);
  });

  it('money that is pre-borrowed for a task can be raised only up to the balance', async () => {
    const { ask } = controls.on;
    const { path, headers } = await controls.on.agent(1_000n);
    const body = { taskId: 'job', amountRaw: '600' };
    const { policyId } = (await ask('POST', `${path}/pre-borrow`, { headers, body })).body;
    const raise = (limitRaw: string) =>
      ask('PATCH', `${path}/policies/${policyId}`, { headers, body: { limitRaw } });
    const over = await raise('1001');
    expect([over.status, over.body.error]).toEqual([402, 'insufficient_balance']);
    expect((await raise('1000')).body.policy).toMatchObject({ limitRaw: '1000' });
    expect((await raise('1')).status).toBe(200);
  });

  it('concurrent pre-borrow requests reserve no more than the balance, and one amount per task', async () => {
    const { ask, refused } = controls.on;
    const { agentId, path, headers } = await controls.on.agent(1_000n);
    const told = await Promise.all(
      Array.from({ length: 6 }, (_, i) =>
        ask('POST', `${path}/pre-borrow`, { headers, body: { taskId: `t${i}`, amountRaw: '300' } }),
      ),
    );
    expect(told.map(({ status }) => status).sort()).toEqual([201, 201, 201, 402, 402, 402]);
    const same = await Promise.all(
      [1, 2, 3].map(() =>
        ask('POST', `${path}/pre-borrow`, { headers, body: { taskId: 'same', amountRaw: '50' } }),
      ),
    );
    expect(same.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
    expect(await refused(agentId, 51n)).toBe('insufficient_balance');
    expect(await refused(agentId, 50n)).toBeUndefined();
  });

  it('an invalid pre-borrow request is refused with the invalid field', async () => {
    const { ask } = controls.on;
    const { path, headers } = await controls.on.agent();
    const good = { taskId: 't', amountRaw: '5' };
    const wrong = [
      ...['', ' ', 'é', 'a\u0000', 't'.repeat(129), 5, null].map(
        (taskId) => ['taskId', { taskId }] as const,
      ),
      ...['0', '-1', '1.5', '1e3', 5, null].map(
        (amountRaw) => ['amountRaw', { amountRaw }] as const,
      ),
      ...[0, -1, 86_401, 1.5, '60'].map((ttlSeconds) => ['ttlSeconds', { ttlSeconds }] as const),
    ];
    for (const [field, more] of wrong) {
      const told = await ask('POST', `${path}/pre-borrow`, { headers, body: { ...good, ...more } });
      expect(
        [told.status, told.body.error, told.body.details[0].path],
        JSON.stringify(more),
      ).toEqual([400, 'Invalid request', [field]]);
    }
  });
});

describe('what caps an account', () => {
  it('the cap of an account is its one session policy, counted over all of its agents', async () => {
    const { ask, spend } = controls.on;
    const { agentId, headers } = await controls.on.agent();
    const other = await controls.on.secondAgent(headers);
    const read = async () =>
      (await ask('GET', '/v1/developer/policies/account-cap', { headers })).body;
    expect(await read()).toEqual({
      configured: false,
      limitRaw: null,
      spentRaw: '0',
      windowKind: null,
      windowResetsAt: null,
    });
    await spend(agentId, 30n);
    const body = { kind: 'session', limitRaw: '100', windowKind: 'calendar', calendarUnit: 'day' };
    const made = await ask('POST', '/v1/developer/policies', { headers, body });
    expect(made.body.policy).toMatchObject({ spentRaw: '30', remainingRaw: '70' });
    await spend(other.agentId, 20n);
    expect(await read()).toEqual({
      configured: true,
      limitRaw: '100',
      spentRaw: '50',
      windowKind: 'calendar',
      windowResetsAt: expect.stringMatching(/T00:00:00.000Z$/),
    });
    const twice = { kind: 'session', limitRaw: '1', windowKind: 'session' };
    const again = await ask('POST', '/v1/developer/policies', { headers, body: twice });
    expect([again.status, again.body.error]).toEqual([409, 'duplicate_active_policy']);
  });

  it('the defaults of new agents have a route beside the cap of the account', async () => {
    const { ask } = controls.on;
    const { headers } = await controls.on.agent();
    const told = await ask('GET', '/v1/developer/policies/defaults', { headers });
    expect([told.status, told.body]).toEqual([
      200,
      { sessionLimitRaw: null, autoPauseEnabled: false, allowlistMode: 'off' },
    ]);
  });
});
