import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FundedAgent } from '../../src/app/commands/demo/fund-agent.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import type { CallerLimits } from '../../src/reports/caller-limits/caller-limits.ts';
import { exportAccount } from '../../src/reports/export/export-account.ts';
import { REPORT_LIMITS } from '../../src/reports/limits.ts';
import { createRefusalReports } from '../../src/reports/refusals/refusal-reports.ts';
import type { Reputations } from '../../src/reports/reputation/reputation.ts';
import type { Search } from '../../src/reports/search/search.ts';
import { connectModern } from '../support/mcp-client.ts';
import {
  type Ask,
  ask,
  askGuide,
  type Developer,
  newDeveloper,
  startWorld,
  type Told,
  type WholeWorld,
} from '../support/whole-world.ts';

let world: WholeWorld;
let agent: FundedAgent;
let stranger: Developer;
let owner: Record<string, string>;

beforeAll(async () => {
  world = await startWorld();
  agent = await world.fund('lookups');
  owner = { authorization: `Bearer ${agent.developerKey}` };
  stranger = await newDeveloper(world.api, 'stranger');
  await askGuide(world.url, agent.agentKey);
});
afterAll(() => world[Symbol.asyncDispose]());

const to = (path: string, options: Ask = {}) =>
  ask(world.url + path, { headers: owner, ...options });
const asAgent = (path: string, options: Ask = {}) =>
  to(path, { headers: { authorization: `Bearer ${agent.agentKey}` }, ...options });

describe('bad input of reports', () => {
  const BAD: readonly (readonly [path: string, status: number, error: string])[] = [
    ['/v1/developer/activity?cursor=%00', 400, 'invalid_cursor'],
    ['/v1/developer/activity?cursor=MSAxIHgx', 400, 'invalid_cursor'],
    ['/v1/developer/activity?cursor=djEyMw==', 400, 'invalid_cursor'],
    ['/v1/developer/activity?since=2026-02-30', 400, 'invalid_time'],
    ['/v1/developer/activity?until=2026-13-01T00:00:00Z', 400, 'invalid_time'],
    ['/v1/developer/activity?since=yesterday', 400, 'invalid_time'],
    ['/v1/developer/activity?since=2026-08-31&until=2026-08-01', 400, 'invalid_window'],
    ['/v1/developer/activity?since=2026-08-31&until=2026-08-31', 400, 'invalid_window'],
    ['/v1/developer/activity?type=bribe', 400, 'Invalid request'],
    ['/v1/developer/activity?limit=many', 400, 'Invalid request'],
    ['/v1/developer/activity?expand=everything', 400, 'Invalid request'],
    ['/v1/developer/activity?agentId=999999', 404, 'not_found'],
    ['/v1/developer/activity?agentId=x', 400, 'Invalid request'],
    ['/v1/developer/activity?apiKeyId=999999', 404, 'Key not found'],
    ['/v1/developer/spend-series?days=0', 400, 'invalid_days'],
    ['/v1/developer/spend-series?days=91', 400, 'invalid_days'],
    ['/v1/developer/spend-series?days=-1', 400, 'invalid_days'],
    ['/v1/developer/spend-series?days=1.5', 400, 'invalid_days'],
    ['/v1/developer/spend-series?agentId=999999', 404, 'not_found'],
    ['/v1/developer/coverage?days=ten', 400, 'invalid_days'],
    ['/v1/developer/agents/999999/coverage', 404, 'not_found'],
    ['/v1/developer/agents/999999/reputation', 404, 'not_found'],
    ['/v1/developer/ledger?groupBy=colour', 400, 'invalid_group_by'],
    ['/v1/developer/ledger?groupBy=__proto__', 400, 'invalid_group_by'],
    ['/v1/developer/ledger?agentId=999999', 404, 'not_found'],
    ['/v1/developer/usage/summary?window=8d', 400, 'invalid_window'],
    ['/v1/developer/analytics/summary?window=1y', 400, 'invalid_window'],
    ['/v1/developer/analytics/summary?agentId=999999', 404, 'not_found'],
    ['/v1/developer/refusals?cursor=x', 400, 'invalid_cursor'],
    ['/v1/developer/refusals?agentId=999999', 404, 'not_found'],
    ['/v1/developer/search', 400, 'Invalid request'],
    ['/v1/developer/search?q=%20', 400, 'Invalid request'],
    [`/v1/developer/search?q=${'x'.repeat(257)}`, 400, 'Invalid request'],
  ];

  it.each(BAD)('%s is answered %i %s with one sentence', async (path, status, error) => {
    const told = await to(path);
    expect([told.status, told.body.error]).toEqual([status, error]);
    expect(String(told.body.message).length).toBeGreaterThan(10);
  });

  it('an account without agents has no activity, and an agent of another account reads as absent', async () => {
    const { headers } = stranger;
    expect((await to('/v1/developer/activity', { headers })).status).toBe(404);
    for (const path of ['activity', 'spend-series', 'ledger', 'refusals', 'analytics/summary']) {
      const own = `/v1/developer/${path}?agentId=${agent.agentId}`;
      expect([path, (await to(own, { headers })).status]).toEqual([path, 404]);
      expect([path, (await to(own)).status]).toEqual([path, 200]);
    }
  });

  it('a report of an agent refuses its window as the report of an account does', async () => {
    const told = await asAgent('/v1/agents/spend-summary?period=year');
    expect([told.status, told.body.error]).toEqual([400, 'invalid_window']);
    for (const path of ['activity', 'usage/summary', 'coverage']) {
      expect((await asAgent(`/v1/agents/${path}`)).status).toBe(200);
      const denied = await to(`/v1/agents/${path}`);
      expect([denied.status, denied.body.error]).toEqual([401, 'wrong_credential_type']);
    }
  });
});

describe('the search of an account', () => {
  const find = async (q: string, headers = owner) => {
    const told = await to(`/v1/developer/search?q=${encodeURIComponent(q)}`, { headers });
    expect(told.status).toBe(200);
    return (told.body as Awaited<ReturnType<Search['find']>>).results.map(
      ({ id, kind }) => `${kind} ${id}`,
    );
  };

  it('a search names the object that a text is, and finds nothing of another account', async () => {
    const { agentId, agentKey, developerKey } = agent;
    const { sql } = world;
    const nonce = `0x${'ab'.repeat(32)}`;
    const tx = `0x${'cd'.repeat(32)}`;
    await sql`insert into reservations (nonce, hold_id, agent_id, wallet, payee, value_raw, valid_before,
        signature, x402_version, network, target_url, target_host, method, state, tx_hash)
      values (${nonce}, 'h', ${agentId}, '0xw', '0xp', 1, 0, '0x', 1, 'base', 'https://a.example/',
        'a.example', 'GET', 'settled', ${tx})`;
    await sql`insert into postings (id, agent_id, code, asked_raw, debits, credits, amounts)
      values (${`credit:deposit:${tx}:0xw:0`}, ${agentId}, 'funding.deposit', 0, '{}', '{}', '{}')`;
    await sql`insert into action_totals (agent_id, action_id, calls, spent_raw, first_seen, last_seen)
      values (${agentId}, 'plan trip', 1, 0, now(), now())`;
    const [row] = await sql<{ wallet: string; account: string; charge: string; key: string }[]>`
      select a.wallet_address as wallet, a.account_id as account,
        (select min(id)::text from charges c where c.agent_id = a.id) as charge,
        (select min(id)::text from agent_keys k where k.agent_id = a.id) as key
      from agents a where a.id = ${agentId}`;
    const { account = '', charge = '', key = '', wallet = '' } = row ?? {};
    const cases: readonly (readonly [string, string])[] = [
      [String(agentId), `agent ${agentId}`],
      [charge, `charge ${charge}`],
      [key, `agent_key ${key}`],
      [wallet.toUpperCase().replace('0X', '0x'), `agent ${agentId}`],
      [account, `account ${account}`],
      ['lookups', `agent ${agentId}`],
      [nonce, `payment ${nonce}`],
      [tx, `payment ${nonce}`],
      [tx, `deposit credit:deposit:${tx}:0xw:0`],
      [' Plan Trip ', 'action plan trip'],
      [`${agentKey.slice(0, 8)}...`, `agent_key ${key}`],
      [agentKey, `agent_key ${key}`],
    ];
    for (const [q, hit] of cases) {
      expect([q, await find(q)]).toEqual([q, expect.arrayContaining([hit])]);
      expect([q, await find(q, { ...stranger.headers })]).not.toEqual([
        q,
        expect.arrayContaining([hit]),
      ]);
    }
    expect((await find(developerKey)).join()).toMatch(/^developer_key \d+$/);
    for (const q of ["'; drop table agents; --", '%', '\\', '9'.repeat(19), '🤖', '0x']) {
      expect([q, await find(q)]).toEqual([q, []]);
    }
  });
});

describe('the export of an account', () => {
  const linesOf = async (headers: Record<string, string>) => {
    const told = await fetch(`${world.url}/v1/developer/export.ndjson`, { headers });
    expect(told.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8');
    const text = await told.text();
    return {
      text,
      lines: text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, unknown>),
    };
  };

  it('an export has every charge and posting of the account, no secret, and an end with the count', async () => {
    const { lines, text } = await linesOf(owner);
    const of = (type: string) => lines.filter((line) => line.type === type);
    const [counts] = await world.sql<{ charges: number; postings: number }[]>`
      select (select count(*)::int from charges where agent_id = ${agent.agentId}) as charges,
        (select count(*)::int from postings where agent_id = ${agent.agentId}) as postings`;
    expect(of('charge')).toHaveLength(counts?.charges ?? -1);
    expect(of('posting')).toHaveLength(counts?.postings ?? -1);
    expect(of('charge')[0]).toMatchObject({
      agentId: agent.agentId,
      model: 'local/guide',
      costRaw: expect.stringMatching(/^\d+$/),
    });
    expect(lines[0]).toMatchObject({ type: 'export', accountId: expect.any(String) });
    expect(lines.at(-1)).toMatchObject({ type: 'end', rows: lines.length - 2 });
    expect(text).not.toMatch(/digest|sealed|signature|secret/i);
    const foreign = await linesOf({ ...stranger.headers });
    expect(foreign.text).not.toContain(`"agentId":${agent.agentId}`);
  });

  it('an export of many pages has each row once, and a second export at the same time is refused', async () => {
    const many = REPORT_LIMITS.export.rowsPerQuery * 2 + 7;
    const added = await world.sql<{ id: bigint }[]>`
      insert into charges (agent_id, posting_id, target_url, target_host, method, status, cost_raw, usage)
      select ${agent.agentId}, 'resolve:page', 'https://p.example/', 'p.example', 'GET', 'success', 1,
        jsonb_build_object('text', repeat('x', 2000)) from generate_series(1, ${many}) returning id`;
    const url = `${world.url}/v1/developer/export.ndjson`;
    const slow = await fetch(url, { headers: owner });
    const busy = await to('/v1/developer/export.ndjson');
    expect([busy.status, busy.body.error]).toEqual([429, 'export_running']);
    expect(Number(busy.headers.get('retry-after'))).toBeGreaterThan(0);
    await slow.body?.cancel();
    await expect
      .poll(async () => (await linesOf(owner).catch(() => undefined))?.lines.length)
      .toBeGreaterThan(many);
    const { lines } = await linesOf(owner);
    const ids = lines.filter(({ type }) => type === 'charge').map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toEqual(expect.arrayContaining(added.map(({ id }) => String(id))));
  });
});

describe('the reader of an export', () => {
  it('an export reads a page when its reader takes it, and nothing when its reader has left', async () => {
    const { sql } = world;
    const [row] = await sql<{ account: string }[]>`
      select account_id as account from agents where id = ${agent.agentId}`;
    let queries = 0;
    const counting = new Proxy(sql, {
      apply(target, self, args) {
        if (Array.isArray(args[0]) && 'raw' in args[0]) queries += 1;
        return Reflect.apply(target, self, args);
      },
    });
    const refusalReports = createRefusalReports({ sql });
    const deps = { sql: counting, clock: systemClock, refusalReports };
    const lines = exportAccount(deps, row?.account ?? '');
    await lines.next();
    expect(queries).toBe(0);
    let taken = 0;
    for await (const line of lines) {
      taken += 1;
      if (line.toString().includes('"type":"charge"')) break;
    }
    const before = queries;
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect([taken > 0, queries]).toEqual([true, before]);
  });
});

describe('what binds a caller', () => {
  const limitsOf = ({ body }: Told) => (body as Awaited<ReturnType<CallerLimits['read']>>).limits;

  it('the limits of an agent and of a developer name what is left of each', async () => {
    const own = limitsOf(await asAgent('/v1/limits'));
    const used = own.find(({ id }) => id === 'control_requests');
    expect(used?.remaining).toBeLessThan(used?.limit ?? 0);
    expect(own.find(({ id }) => id === 'agent_keys')).toMatchObject({ limit: 5, remaining: 4 });
    const told = limitsOf(await to('/v1/limits'));
    expect(told.find(({ id }) => id === 'agents')).toMatchObject({
      limit: 5,
      remaining: 4,
      per: 'at a time',
      beyond: '409 limit_exceeded',
    });
    expect(told.map(({ id }) => id)).not.toContain('agent_keys');
  });

  it('a report of a tool call is answered with any key, and refused where it is malformed', async () => {
    const report = { tool: 'get_activity', durationMs: 12.5, ok: false, errorCode: 'not_found' };
    for (const headers of [owner, { authorization: `Bearer ${agent.agentKey}` }]) {
      const told = await to('/v1/events/tool-call', { headers, body: report });
      expect([told.status, told.body]).toEqual([200, { ok: true }]);
    }
    const bad = [
      {},
      { ...report, ok: 'yes' },
      { ...report, durationMs: -1 },
      { ...report, tool: '' },
    ];
    for (const body of bad) {
      expect((await to('/v1/events/tool-call', { body })).status).toBe(400);
    }
    const long = await to('/v1/events/tool-call', {
      body: { ...report, tool: 'x'.repeat(70_000) },
    });
    expect(long.status).toBe(413);
    const anonymous = await to('/v1/events/tool-call', { headers: {}, body: report });
    expect(anonymous.status).toBe(401);
    const metrics = await fetch(`${world.url}/metrics`, {
      headers: { 'x-admin-key': world.adminApiKey },
    });
    expect(await metrics.text()).toContain(
      'svc_client_tool_call_seconds_count{outcome="failed"} 2',
    );
  });
});

describe('the reputation of an agent', () => {
  it('a reputation needs 20 charges, and is the same for the agent, its developer and MCP', async () => {
    const young = await world.fund('young');
    const key = { authorization: `Bearer ${young.agentKey}` };
    const early = await to('/v1/agents/reputation', { headers: key });
    expect([early.status, early.body]).toMatchObject([
      404,
      { error: 'no_reputation_yet', least: 20 },
    ]);
    await world.sql`insert into spend_totals (agent_id, day, model, rail, calls, failed, cost_raw)
      values (${young.agentId}, current_date, 'm', '', 40, 10, 1)`;
    const read = await to('/v1/agents/reputation', { headers: key });
    const { computedAt, ...own } = read.body as Awaited<ReturnType<Reputations['read']>>;
    expect(Date.parse(computedAt)).toBeGreaterThan(0);
    // 40 · 0.75 settled + 20 · 0.75 in place of outcomes + 15 funded + 0 of age + 10 of standing.
    expect(own).toEqual({
      score: 70,
      band: 'B',
      confidence: 0.29,
      modelVersion: 'own-facts-1',
      collateralMultiplierBps: 13_000,
    });
    const ofDeveloper = await to(`/v1/developer/agents/${young.agentId}/reputation`, {
      headers: { authorization: `Bearer ${young.developerKey}` },
    });
    expect(ofDeveloper.body).toMatchObject(own);
    await using session = await connectModern({ url: world.url, key: young.agentKey });
    const told = await session.call('get_agent_reputation');
    expect(told.structuredContent).toMatchObject(own);
    const activity = await session.call('get_activity', { type: ['transfer_deposit'], limit: 5 });
    expect(activity.structuredContent).toMatchObject({ events: [{ type: 'transfer_deposit' }] });
    const usage = await session.call('get_usage_summary', { window: '30d' });
    expect(usage.structuredContent).toMatchObject({ window: '30d', policiesTripped: 0 });
    const coverage = await session.call('get_coverage_score', { days: 365 });
    expect(coverage.structuredContent).toMatchObject({ days: 90, dark: 'unknown' });
  });
});
