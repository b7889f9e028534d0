import { describe, expect, it } from 'vitest';
import { type Answer, useControls } from '../../support/controls-world.ts';

const controls = useControls();
const OWN = '/v1/agents/policies';

async function locked() {
  const made = await controls.on.agent();
  const { ask } = controls.on;
  const lock = (on: boolean) =>
    ask('PUT', `${made.path}/self-service-lock`, { headers: made.headers, body: { locked: on } });
  const own = (method: string, at: string, body?: unknown): Promise<Answer> =>
    ask(method, at, { headers: made.key, ...(body !== undefined && { body }) });
  return { ...made, ask, lock, own };
}

const refusal = {
  status: 403,
  body: {
    error: 'self_service_locked',
    next: { method: 'PUT', path: '/v1/developer/agents/{agentId}/self-service-lock' },
  },
};

describe('the lock on self-service', () => {
  it('the self-service lock is read and set by the developer, and shown in the agent', async () => {
    const { ask, lock, path, headers, own } = await locked();
    const read = async () => (await ask('GET', `${path}/self-service-lock`, { headers })).body;
    const shown = async () => (await ask('GET', path, { headers })).body.agent.selfServiceLocked;
    expect([await read(), await shown()]).toEqual([{ locked: false }, false]);
    const on = await lock(true);
    expect([on.status, on.body]).toEqual([200, { locked: true }]);
    expect([await read(), await shown()]).toEqual([{ locked: true }, true]);
    await lock(false);
    expect([await read(), await shown()]).toEqual([{ locked: false }, false]);
    const bad = await ask('PUT', `${path}/self-service-lock`, { headers, body: { locked: 1 } });
    expect([bad.status, bad.body.error]).toEqual([400, 'Invalid request']);
    expect((await own('GET', `${path}/self-service-lock`)).status).toBe(401);
  });

  it('the self-service lock lets the agent only tighten its policies, and its developer change everything', async () => {
    const { ask, lock, own, path, headers } = await locked();
    const TASK = { kind: 'task', matchKey: 't', limitRaw: '100', windowSeconds: 3_600 };
    await lock(true);
    const made = await own('POST', OWN, TASK);
    expect(made.status).toBe(201);
    const at = `${OWN}/${made.body.policy.id}`;
    for (const body of [
      { limitRaw: '90' },
      { windowSeconds: 7_200 },
      { action: 'suspend_agent' },
      {},
    ]) {
      expect((await own('PATCH', at, body)).status, JSON.stringify(body)).toBe(200);
    }
    const before = (await own('GET', OWN)).body;
    for (const body of [
      { limitRaw: '91' },
      { windowSeconds: 3_600 },
      { action: 'block' },
      { effectiveFrom: 1 },
      { limitCeilingRaw: '100' },
      { limitRaw: '1', windowSeconds: 60 },
    ]) {
      expect(await own('PATCH', at, body), JSON.stringify(body)).toMatchObject(refusal);
    }
    expect(await own('DELETE', at)).toMatchObject(refusal);
    expect(await own('POST', `${at}/reset`)).toMatchObject(refusal);
    expect((await own('GET', OWN)).body).toEqual(before);

    const operator = `${path}/policies/${made.body.policy.id}`;
    expect((await ask('PATCH', operator, { headers, body: { limitRaw: '200' } })).status).toBe(200);
    expect((await ask('POST', `${operator}/reset`, { headers })).status).toBe(200);
    expect((await ask('DELETE', operator, { headers })).status).toBe(200);
    await lock(false);
    const free = await own('POST', OWN, TASK);
    expect((await own('DELETE', `${OWN}/${free.body.policy.id}`)).status).toBe(200);
  });

  it('the self-service lock refuses a new allowlist entry, because the entry is a permission', async () => {
    const { lock, own } = await locked();
    const API = { kind: 'api', matchKey: 'x.com', limitRaw: '100' };
    await lock(true);
    expect((await own('POST', OWN, API)).status).toBe(201);
    const mode = (wanted: string) => own('PUT', '/v1/agents/allowlist-mode', { mode: wanted });
    expect((await mode('host')).status).toBe(200);
    expect(await own('POST', OWN, { ...API, matchKey: 'y.com' })).toMatchObject(refusal);
    expect((await own('POST', OWN, { ...API, kind: 'task', matchKey: 't' })).status).toBe(201);
    expect(await mode('vendor')).toMatchObject(refusal);
    expect(await mode('off')).toMatchObject(refusal);
    expect((await mode('both')).status).toBe(200);
    expect(await mode('host')).toMatchObject(refusal);
  });

  it('the self-service lock lets the agent only lower its session limit, to no more than what is left', async () => {
    const { lock, own, agentId } = await locked();
    const LIMIT = '/v1/agents/spend-limit';
    const set = (limitRaw: string) => own('PUT', LIMIT, { limitRaw });
    await lock(true);
    expect((await set('100')).status).toBe(200);
    await controls.on.spend(agentId, 40n);
    for (const more of ['100', '61', '1000']) expect(await set(more)).toMatchObject(refusal);
    expect((await set('60')).body).toMatchObject({ sessionRemainingRaw: '60' });
    expect(await own('DELETE', LIMIT)).toMatchObject(refusal);
    expect((await own('GET', LIMIT)).body).toMatchObject({ limitRaw: '60' });
  });

  it('the self-service lock holds against races: no limit is raised after the lock was confirmed', async () => {
    const { lock, own, agentId } = await locked();
    const { sql } = controls.on;
    for (let round = 0; round < 10; round++) {
      await lock(false);
      const made = await own('POST', OWN, { kind: 'task', matchKey: `r${round}`, limitRaw: '10' });
      const at = `${OWN}/${made.body.policy.id}`;
      const limits = Array.from({ length: 6 }, (_, i) => String(11 + i));
      const raises = limits.map((limitRaw) => own('PATCH', at, { limitRaw }));
      const on = lock(true);
      const late = on.then(() => own('PATCH', at, { limitRaw: '999' }));
      const told = await Promise.all(raises);
      expect(told.every(({ status }) => status === 200 || status === 403)).toBe(true);
      expect(await late).toMatchObject(refusal);
      const [row] = await sql<{ limit_raw: bigint; locked: boolean }[]>`
        select p.limit_raw, a.self_service_locked as locked from policies p
        join agents a on a.id = p.agent_id
        where p.agent_id = ${agentId} and p.match_key = ${`r${round}`}`;
      expect(row?.locked).toBe(true);
      const passed = told.flatMap(({ status }, i) => (status === 200 ? [limits[i]] : []));
      expect(['10', ...passed]).toContain(String(row?.limit_raw));
      expect((await own('DELETE', at)).status).toBe(403);
    }
  });

  it('the self-service lock refuses a request that was already waiting when the lock was set', async () => {
    const { lock, own, agentId } = await locked();
    const { sql } = controls.on;
    const made = await own('POST', OWN, { kind: 'task', matchKey: 't', limitRaw: '10' });
    const at = `${OWN}/${made.body.policy.id}`;
    const waiting = async () => {
      const rows = await sql`
        select 1 from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`;
      return rows.length;
    };
    const asked: Promise<Answer>[] = [];
    await sql.begin(async (tx) => {
      await tx`select 1 from agent_funds where agent_id = ${agentId} for no key update`;
      asked.push(lock(true));
      await expect.poll(waiting).toBe(1);
      asked.push(own('PATCH', at, { limitRaw: '11' }), own('DELETE', at));
      await expect.poll(waiting).toBe(3);
    });
    const [on, ...late] = await Promise.all(asked);
    expect(on?.status).toBe(200);
    expect(late).toMatchObject([refusal, refusal]);
  });

  it('the self-service lock leaves team policies to the developer', async () => {
    const { ask, lock, headers } = await locked();
    await lock(true);
    const body = { kind: 'session', limitRaw: '10', windowKind: 'session' };
    const made = await ask('POST', '/v1/developer/policies', { headers, body });
    const at = `/v1/developer/policies/${made.body.policy.id}`;
    expect((await ask('PATCH', at, { headers, body: { limitRaw: '100' } })).status).toBe(200);
    expect((await ask('DELETE', at, { headers })).status).toBe(200);
  });
});
