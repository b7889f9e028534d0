import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { createAuditTrail } from '../../src/accounts/audit/admin-acts.ts';
import type { FundedAgent } from '../../src/app/commands/demo/fund-agent.ts';
import { API_VERSION } from '../../src/http/server/api-version.ts';
import { silentLog } from '../../src/kernel/log.ts';
import {
  createAlarmBell,
  type OperatorReports,
} from '../../src/reports/operator/operator-reports.ts';
import { type Ask, ask, startWorld, type WholeWorld } from '../support/whole-world.ts';

const METRICS_TOKEN = 'metrics-token-of-the-test';

let world: WholeWorld;
let agent: FundedAgent;
let account: string;

beforeAll(async () => {
  world = await startWorld({ METRICS_TOKEN });
  agent = await world.fund('operated');
  const [row] = await world.sql<{ account: string }[]>`
    select account_id as account from agents where id = ${agent.agentId}`;
  account = row?.account ?? '';
});
afterAll(() => world[Symbol.asyncDispose]());

const to = (path: string, options: Ask = {}) =>
  ask(`${world.url}/v1/admin/${path}`, {
    headers: { 'x-admin-key': world.adminApiKey },
    ...options,
  });
type Told<K extends keyof OperatorReports> = Awaited<ReturnType<OperatorReports[K]>>;
type Acts = Awaited<ReturnType<ReturnType<typeof createAuditTrail>['list']>>['acts'];
const acts = async () => (await to('audit')).body.acts as unknown as Acts;

describe('the trail of the operator', () => {
  it('every act is in the trail once, with its request and its details, newest first', async () => {
    const id = agent.agentId;
    const credit = { amountRaw: '5', reference: 'gift' };
    const sent: readonly (readonly [string, Ask])[] = [
      [`agents/${id}/credit`, { body: credit }],
      [`agents/${id}/credit`, { body: credit }],
      [`agents/${id}`, { method: 'PATCH', body: { status: 'suspended' } }],
      [`agents/${id}`, { method: 'PATCH', body: { status: 'suspended' } }],
      [`agents/${id}`, { method: 'PATCH', body: { status: 'active' } }],
      [`call-limits/${account}`, { method: 'PUT', body: { concurrentCalls: 7 } }],
      [`telephony-suspensions/${account}`, { method: 'PUT', body: { reason: 'unpaid' } }],
      [`telephony-suspensions/${account}`, { method: 'PUT', body: { reason: 'unpaid' } }],
      [`telephony-suspensions/${account}`, { method: 'DELETE' }],
      ['telephony-suspensions?reason=unpaid', { method: 'DELETE' }],
      [`agents/${id}/close`, { method: 'POST' }],
      [`agents/${id}/close`, { method: 'POST' }],
    ];
    const before = (await acts()).length;
    const requests = new Map<string, string | null>();
    for (const [path, options] of sent) {
      const told = await to(path, options);
      expect([path, told.status]).toEqual([path, 200]);
      requests.set(path, told.headers.get('x-request-id'));
    }
    const trail = (await acts()).slice(0, -before || undefined);
    expect(trail.map(({ act, detail, target }) => [act, target, detail]).reverse()).toEqual([
      ['agent.credit', String(id), credit],
      ['agent.status', String(id), { from: 'active', to: 'suspended' }],
      ['agent.status', String(id), { from: 'suspended', to: 'active' }],
      ['call_limit.set', account, { concurrentCalls: 7 }],
      ['telephony.suspend', account, { reason: 'unpaid' }],
      ['telephony.lift', account, {}],
      ['agent.close', String(id), {}],
    ]);
    const limit = trail.find(({ act }) => act === 'call_limit.set');
    expect(limit?.requestId).toBe(requests.get(`call-limits/${account}`));
    expect(limit?.clientAddress).toMatch(/127\.0\.0\.1/);
  });

  it('an act that is refused is not in the trail', async () => {
    const before = await acts();
    const refused: readonly (readonly [string, Ask, number])[] = [
      ['agents/999999/close', { method: 'POST' }, 404],
      [`agents/${agent.agentId}/credit`, { body: { amountRaw: '1', reference: 'late' } }, 403],
      ['call-limits/acct_none', { method: 'PUT', body: { concurrentCalls: 1 } }, 404],
      ['telephony-suspensions/acct_none', { method: 'PUT', body: {} }, 404],
      ['telephony-suspensions/acct_none', { method: 'DELETE' }, 404],
      [`reservations/0x${'0'.repeat(64)}/release`, { method: 'POST' }, 404],
    ];
    for (const [path, options, status] of refused) {
      expect([path, (await to(path, options)).status]).toEqual([path, status]);
    }
    expect(await acts()).toEqual(before);
  });

  it('the trail is read in pages, and a cursor that no page ended with is refused', async () => {
    const all = await acts();
    const ids: string[] = [];
    let cursor: string | null = null;
    do {
      const after: string = cursor === null ? '' : `&cursor=${cursor}`;
      const page = (await to(`audit?limit=3${after}`)).body;
      ids.push(...(page.acts as { id: string }[]).map(({ id }) => id));
      cursor = page.nextCursor as string | null;
    } while (cursor !== null);
    expect(ids).toEqual(all.map(({ id }) => String(id)));
    for (const path of [
      'audit?cursor=x',
      'audit?cursor=MA',
      'developers?cursor=%20',
      'developers?cursor=',
    ]) {
      const told = await to(path);
      expect([path, told.status, told.body.error]).toEqual([path, 400, 'invalid_cursor']);
    }
    for (const path of ['audit?limit=0', 'audit?limit=501', 'developers?limit=many']) {
      expect((await to(path)).status).toBe(400);
    }
  });
});

describe('the views of the operator', () => {
  it('the list of developers has every account once, with its agents and its money', async () => {
    await world.fund('another', 42n);
    const seen: Told<'developers'>['developers'][number][] = [];
    let cursor: string | null = null;
    do {
      const after: string = cursor === null ? '' : `&cursor=${cursor}`;
      const page = (await to(`developers?limit=1${after}`)).body;
      seen.push(...(page.developers as unknown as typeof seen));
      cursor = page.nextCursor as string | null;
    } while (cursor !== null);
    const rows = await world.sql<{ id: string }[]>`
      select account_id as id from developers order by account_id`;
    expect(seen.map(({ accountId }) => accountId)).toEqual(rows.map(({ id }) => id));
    expect(seen.find(({ spendableRaw }) => spendableRaw === '42')).toMatchObject({
      agents: 1,
      openAgents: 1,
      heldRaw: '0',
      isTelephonySuspended: false,
    });
    expect(seen.find(({ accountId }) => accountId === account)).toMatchObject({ openAgents: 0 });
  });

  it('the list of processes has this process with its version, its start and its work', async () => {
    await world.sql`insert into leases (node_id, epoch, expires_at)
      values ('gone', 1, now() - interval '1 hour')`;
    const { processes } = (await to('processes')).body as unknown as Told<'processes'>;
    expect(processes).toMatchObject([
      { version: API_VERSION, isRunning: true, liveSessions: 0, openHolds: 0 },
      { nodeId: 'gone', version: null, startedAt: null, isRunning: false },
    ]);
    expect(Date.parse(processes[0]?.startedAt ?? '')).toBeLessThanOrEqual(Date.now() + 1_000);
    await expect
      .poll(
        async () => {
          const told = (await to('processes')).body as unknown as Told<'processes'>;
          return told.processes[0]?.openRequests;
        },
        { timeout: 10_000 },
      )
      .toBeTypeOf('number');
  });

  it('an alarm is red from the fact that raised it, and keeps its first time', async () => {
    const read = async () => ((await to('alarms')).body as unknown as Told<'alarms'>).alarms;
    expect(await read()).toEqual([]);
    const { sql } = world;
    await sql`insert into telephony_stops (reason, created_at) values ('limit', '2026-01-02T03:04:05Z')`;
    await sql`insert into holds (id, agent_id, amount_raw, kind, node_id, lease_epoch)
      values ('orphan', ${agent.agentId}, 1, 'request', 'gone', 9)`;
    const ring = createAlarmBell({ log: silentLog, sql });
    ring('moved_after_release');
    await expect.poll(async () => (await read()).length).toBe(3);
    ring('moved_after_release');
    await expect
      .poll(async () => (await read()).find(({ name }) => name === 'moved_after_release')?.count)
      .toBe(2);
    expect(await read()).toMatchObject([
      { name: 'telephony_stopped', since: '2026-01-02T03:04:05.000Z', count: 1 },
      { name: 'process_lost', count: 1 },
      { name: 'moved_after_release', count: 2 },
    ]);
    await sql`update alarms set last_at = now() - interval '25 hours'`;
    await sql`delete from holds where id = 'orphan'`;
    expect((await read()).map(({ name }) => name)).toEqual(['telephony_stopped']);
  });
});

describe('the token for metrics', () => {
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

  it('the token for metrics reads them and opens no other route', async () => {
    for (const headers of [bearer(METRICS_TOKEN), { 'x-admin-key': world.adminApiKey }]) {
      const told = await fetch(`${world.url}/metrics`, { headers });
      expect([told.status, await told.text()]).toEqual([200, expect.stringContaining('# HELP')]);
    }
    for (const headers of [bearer('x'.repeat(25)), bearer(agent.developerKey), {}]) {
      expect((await ask(`${world.url}/metrics`, { headers })).status).toBe(401);
    }
    for (const path of ['developers', 'processes', 'alarms', 'audit', 'agents']) {
      for (const headers of [bearer(METRICS_TOKEN), { 'x-admin-key': METRICS_TOKEN }]) {
        expect([path, (await to(path, { headers })).status]).toEqual([path, 401]);
      }
    }
    const credit = await to(`agents/${agent.agentId}/credit`, {
      headers: bearer(METRICS_TOKEN),
      body: { amountRaw: '1', reference: 'stolen' },
    });
    expect(credit.status).toBe(401);
    const profile = await ask(`${world.url}/v1/developer/profile`, {
      headers: bearer(METRICS_TOKEN),
    });
    expect(profile.status).toBe(401);
  });
});
