import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AccountReports } from '../../src/reports/account/account-reports.ts';
import type { analyticsOf } from '../../src/reports/account/analytics.ts';
import type { Activity } from '../../src/reports/activity/activity.ts';
import { randomRows, type SpendRow, sumOf, sumsBy, writeRows } from '../support/spend-rows.ts';
import {
  type Ask,
  ask,
  askGuide,
  type Developer,
  newDeveloper,
  startWorld,
  type WholeWorld,
} from '../support/whole-world.ts';

const DAY_MS = 86_400_000;
const SEED = 20_261_129;

let world: WholeWorld;
let developer: Developer;
let stranger: Developer;
let agents: number[];
let agentKey: string;
let foreignAgent: number;
let rows: SpendRow[];
let today: string;

beforeAll(async () => {
  world = await startWorld();
  developer = await newDeveloper(world.api, 'reports');
  stranger = await newDeveloper(world.api, 'stranger');
  agents = [await developer.createAgent('first'), await developer.createAgent('-second')];
  foreignAgent = await stranger.createAgent('foreign');
  ({ key: agentKey } = await developer.mintKey(agents[0] as number));
  const nowMs = Date.now();
  today = new Date(nowMs).toISOString().slice(0, 10);
  rows = randomRows(SEED, { agentIds: agents, count: 600, nowMs });
  await writeRows(world.sql, rows);
  await world.sql`insert into charges (agent_id, posting_id, target_url, target_host, method, status,
      cost_raw, usage) select ${foreignAgent}, 'resolve:many', 'https://x.example/', 'x.example', 'GET',
      'success', 1, '{}' from generate_series(1, 10001)`;
});
afterAll(() => world[Symbol.asyncDispose]());

const to = (path: string, options: Ask = {}) =>
  ask(world.url + path, { headers: developer.headers, ...options });
const asAgent = (path: string) => to(path, { headers: { authorization: `Bearer ${agentKey}` } });
const body = async <T>(path: string): Promise<T> => {
  const told = await to(path);
  expect([told.status, told.body.message]).toEqual([200, undefined]);
  return told.body as T;
};

const dayOf = (at: Date) => at.toISOString().slice(0, 10);
const firstOf = (days: number) => dayOf(new Date(Date.parse(today) - (days - 1) * DAY_MS));
/** What counts under policies. */
const counted = () => rows.filter(({ source }) => source !== 'guard');
const within = (list: readonly SpendRow[], days: number) =>
  list.filter(({ at }) => dayOf(at) >= firstOf(days));
const thisMonth = () => counted().filter(({ at }) => dayOf(at).slice(0, 7) === today.slice(0, 7));

type Told<K extends keyof AccountReports> = Awaited<ReturnType<AccountReports[K]>>;

describe('the reports of an account', () => {
  it('spend-series has every day of its window, and each sum is that of the rows', async () => {
    for (const days of [1, 7, 30, 90]) {
      const told = await body<Told<'spendSeries'>>(`/v1/developer/spend-series?days=${days}`);
      const own = within(counted(), days);
      const byDay = sumsBy(own, ({ at }) => dayOf(at));
      expect(told.series).toHaveLength(days);
      expect(told.series.map(({ date }) => date)).toEqual(
        Array.from({ length: days }, (_, i) => firstOf(days - i)),
      );
      for (const { date, totalRaw } of told.series) expect(totalRaw).toBe(byDay.get(date) ?? '0');
      expect(told.totals).toEqual({ requests: own.length, declined: 0, totalRaw: sumOf(own) });
      const vendors = told.byVendor.reduce((sum, { totalRaw }) => sum + BigInt(totalRaw), 0n);
      expect(String(vendors)).toBe(sumOf(own));
      expect(told.byVendor.length).toBeLessThanOrEqual(9);
    }
    const one = await body<Told<'spendSeries'>>(`/v1/developer/spend-series?agentId=${agents[1]}`);
    const own = within(counted(), 30).filter(({ agentId }) => agentId === agents[1]);
    expect(one.totals.totalRaw).toBe(sumOf(own));
  });

  it('the ledger groups by source, customer, task and agent, and each group sums to the rows', async () => {
    const keys: Record<string, (row: SpendRow) => string> = {
      source: ({ source }) => source,
      customer: ({ customer }) => customer,
      campaign: ({ task }) => task,
      agent: ({ agentId }) => String(agentId),
    };
    for (const [groupBy, keyOf] of Object.entries(keys)) {
      const told = await body<Told<'ledger'>>(`/v1/developer/ledger?groupBy=${groupBy}&days=90`);
      const sums = sumsBy(rows, keyOf);
      expect(told.totalRaw).toBe(sumOf(rows));
      const listed = told.rows.reduce((sum, { costRaw }) => sum + BigInt(costRaw), 0n);
      expect(String(listed)).toBe(told.totalRaw);
      expect(told.rows.length).toBeLessThanOrEqual(51);
      for (const { costRaw, key, tagged } of told.rows) {
        if (key === 'other') continue;
        expect([key, costRaw]).toEqual([key, sums.get(tagged ? key : '')]);
      }
    }
  });

  it('coverage divides the known spend into what could be refused and what was reported', async () => {
    const told = await body<Told<'coverage'>>('/v1/developer/coverage?days=1000');
    const reported = rows.filter(({ source }) => source === 'guard' || source === 'vapi');
    const enforceable = rows.filter((row) => !reported.includes(row));
    const bySource = sumsBy(rows, ({ source }) => source);
    expect(told).toMatchObject({
      days: 90,
      totals: {
        knownRaw: sumOf(rows),
        enforceableRaw: sumOf(enforceable),
        reconciledRaw: sumOf(reported),
        coverageBps: 10_000,
      },
      calls: {
        total: rows.length,
        enforceable: enforceable.length,
        reconciled: reported.length,
        byok: rows.filter(({ source }) => source === 'byok').length,
      },
      dark: 'unknown',
    });
    const listed = told.bySource;
    expect(new Map(listed.map(({ costRaw, source }) => [source, costRaw]))).toEqual(bySource);
    const afterwards = listed.filter((each) => each.class === 'reconciled');
    expect(afterwards.map(({ source }) => source).sort()).toEqual(['guard', 'vapi']);
    const newcomer = await newDeveloper(world.api, 'newcomer');
    const fresh = await to('/v1/developer/coverage', { headers: newcomer.headers });
    expect(fresh.body).toMatchObject({ days: 30, totals: { knownRaw: '0', coverageBps: null } });
    const own = await asAgent('/v1/agents/coverage?days=90');
    const ofAgent = await body(`/v1/developer/agents/${agents[0]}/coverage?days=90`);
    expect(own.body).toEqual(ofAgent);
  });

  it('analytics count successes, failures and pending payments of each window', async () => {
    for (const [window, since] of [
      ['7d', firstOf(7)],
      ['30d', firstOf(30)],
      ['all', ''],
    ] as const) {
      const told = await body<Awaited<ReturnType<typeof analyticsOf>>>(
        `/v1/developer/analytics/summary?window=${window}`,
      );
      const own = counted().filter(({ at }) => dayOf(at) >= since);
      expect(told.agents).toBe(2);
      expect(told.totals.x402).toMatchObject({
        count: own.length,
        volumeRaw: sumOf(own),
        failedCount: own.filter(({ failed }) => failed).length,
        pendingCount: own.filter(({ pending }) => pending).length,
      });
    }
    const told = await body<Awaited<ReturnType<typeof analyticsOf>>>(
      '/v1/developer/analytics/summary',
    );
    const lately = counted().filter(({ at }) => at.getTime() > Date.now() - DAY_MS);
    expect(Math.abs(told.totals.x402.count - lately.length)).toBeLessThanOrEqual(1);
    const series = told.timeSeries.reduce((sum, { volumeRaw }) => sum + BigInt(volumeRaw), 0n);
    expect(String(series)).toBe(told.totals.x402.volumeRaw);
    for (const { successRate } of told.topEndpoints) {
      expect(successRate).toBeGreaterThanOrEqual(0);
      expect(successRate).toBeLessThanOrEqual(1);
    }
  });

  it('the month to date, the invoice and the CSV have one sum, and it is that of the rows', async () => {
    const month = await body<Told<'monthToDate'>>('/v1/developer/billing/mtd');
    const sum = (list: readonly { readonly costRaw: string }[]) =>
      String(list.reduce((all, { costRaw }) => all + BigInt(costRaw), 0n));
    expect([month.totalRaw, sum(month.byVendor), sum(month.byAgent)]).toEqual(
      Array(3).fill(sumOf(thisMonth())),
    );
    const invoice = await body<Record<string, unknown>>('/v1/developer/billing/invoice');
    expect(invoice).toMatchObject({
      ...month,
      currency: 'USDC',
      decimals: 6,
      period: { start: `${today.slice(0, 7)}-01T00:00:00.000Z` },
    });
    const csv = await fetch(`${world.url}/v1/developer/billing/export.csv`, {
      headers: developer.headers,
    });
    expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    const [head, ...lines] = (await csv.text()).trimEnd().split('\r\n');
    expect(head).toBe('time,agent,vendor_endpoint,amount_raw');
    const own = thisMonth().filter(({ costRaw }) => costRaw > 0n);
    expect(lines).toHaveLength(own.length);
    const total = lines.reduce((all, line) => all + BigInt(line.split(',')[3] ?? ''), 0n);
    expect(String(total)).toBe(month.totalRaw);
    const times = lines.map((line) => line.split(',')[0] ?? '');
    expect(times).toEqual([...times].sort());
    const ofSecond = own.filter(({ agentId }) => agentId === agents[1]);
    expect(lines.filter((line) => line.includes(",'-second,"))).toHaveLength(ofSecond.length);
  });

  it('a month with more charges than a CSV holds is refused, and the refusal names the bound', async () => {
    const told = await to('/v1/developer/billing/export.csv', { headers: stranger.headers });
    expect([told.status, told.body]).toMatchObject([
      413,
      { error: 'export_too_large', limit: 10_000, message: expect.any(String) },
    ]);
  });

  it('the spend summary of an agent is that of its last day, week and month to the millisecond', async () => {
    for (const [period, days] of [
      ['day', 1],
      ['week', 7],
      ['month', 30],
    ] as const) {
      const { body: told, status } = await asAgent(`/v1/agents/spend-summary?period=${period}`);
      expect(status).toBe(200);
      const since = Date.parse(String(told.since));
      expect(Date.parse(String(told.until)) - since).toBe(days * DAY_MS);
      const own = counted().filter(
        ({ agentId, at }) => agentId === agents[0] && at.getTime() >= since,
      );
      expect(told).toMatchObject({
        period,
        totalSpendRaw: sumOf(own),
        successCount: own.filter(({ failed, pending }) => !failed && !pending).length,
        failedCount: own.filter(({ failed }) => failed).length,
      });
    }
  });
});

describe('activity', () => {
  type Page = Awaited<ReturnType<Activity['page']>>;
  const readAll = async (query: string): Promise<Page['events']> => {
    const events: Page['events'] = [];
    let cursor: string | null = null;
    do {
      const after: string = cursor === null ? '' : `&cursor=${cursor}`;
      const page: Page = await body(`/v1/developer/activity?${query}${after}`);
      expect(page.hasMore).toBe(page.nextCursor !== null);
      events.push(...page.events);
      cursor = page.nextCursor;
    } while (cursor !== null);
    return events;
  };

  it('activity lists every charge and every pending payment once, newest first, whatever the page', async () => {
    const all = await readAll('limit=100&type=x402_call');
    expect(all).toHaveLength(counted().length);
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
    const times = all.map(({ timestamp }) => timestamp);
    expect(times).toEqual([...times].sort().reverse());
    const total = all.reduce((sum, { amountRaw }) => sum + BigInt(amountRaw ?? 0), 0n);
    expect(String(total)).toBe(sumOf(counted()));
    expect(await readAll('limit=17&type=x402_call')).toEqual(all);
    const [since, until] = [firstOf(20), firstOf(10)];
    const some = await readAll(`since=${since}&until=${until}T00:00:00%2B00:00`);
    expect(some).toHaveLength(
      counted().filter(({ at }) => dayOf(at) >= since && dayOf(at) < until).length,
    );
  });

  it('activity shows deposits and credits, details on request, and a key its own calls alone', async () => {
    const spender = await world.fund('spender', 1_000_000n);
    const owner = { headers: { authorization: `Bearer ${spender.developerKey}` } };
    await askGuide(world.url, spender.agentKey);
    const read = (query: string) => to(`/v1/developer/activity?${query}`, owner);
    const [call, credit] = (await read('expand=details')).body.events as Record<string, unknown>[];
    expect(credit).toMatchObject({
      type: 'transfer_deposit',
      status: 'success',
      amountRaw: '1000000',
    });
    expect(call).toMatchObject({
      type: 'x402_call',
      agent: { id: spender.agentId, name: expect.any(String), walletAddress: expect.any(String) },
      details: { model: 'local/guide', keyId: expect.any(Number) },
    });
    const { keyId } = (call as { details: { keyId: number } }).details;
    const ofKey = (await read(`apiKeyId=${keyId}`)).body as unknown as Page;
    expect(ofKey.events.map(({ id }) => id)).toEqual([(call as { id: string }).id]);
    expect((await read('type=facility_loan_match')).body.events).toEqual([]);
    const own = await to('/v1/agents/activity', {
      headers: { authorization: `Bearer ${spender.agentKey}` },
    });
    expect(own.body.events).toHaveLength(2);
  });
});
