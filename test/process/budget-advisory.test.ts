import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { LiveLedger } from '../../src/ledger/engine/ledger.ts';
import type { BudgetReports } from '../../src/spend/awareness/budget-left.ts';
import { SPEND_LIMITS } from '../../src/spend/limits.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { type GatewayWorld, gatewayWorld } from '../support/gateway-world.ts';
import { liveLedger } from '../support/ledger-load.ts';
import { seedAgents } from '../support/ledger-world.ts';
import { type OpenAiUpstream, openAiUpstream } from '../support/openai-upstream.ts';
import { plainBudgets } from '../support/plain-budgets.ts';
import { addPolicy, type PolicyWish } from '../support/policies.ts';
import { keyOf, MODEL, RACE_MODELS } from '../support/spend-race.ts';
import { askGuide, startWorld } from '../support/whole-world.ts';

const HEADER = 'x-svc-budget-advisory';
const LEFT = 'x-svc-budget-remaining-usdc';
/** Each call costs 100 raw. */
const FUNDS = 100_000n;

let database: TestDatabase;
let ledger: LiveLedger;
let upstream: OpenAiUpstream;
let agents: Awaited<ReturnType<typeof seedAgents>>;
let accountId: string;
const open: AsyncDisposable[] = [];
beforeAll(async () => {
  database = await testDatabase();
  ledger = liveLedger(database.sql, 'advisory');
  upstream = await openAiUpstream();
});
beforeEach(async () => {
  agents = await seedAgents(database.sql, 2);
  const [row] = await database.sql<{ account: string }[]>`
    select account_id as account from agents where id = ${agents[0]?.agentId ?? 0}`;
  accountId = row?.account ?? '';
  for (const { agentId } of agents) {
    await ledger.credit({ agentId, amountRaw: FUNDS, reference: `start ${agentId}` });
  }
});
afterAll(async () => {
  for (const one of open) await one[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
  await ledger[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

async function gateway(budgets: BudgetReports): Promise<GatewayWorld> {
  const world = await gatewayWorld({
    ledger,
    budgets,
    models: RACE_MODELS,
    others: new Map(agents.map((agent) => [keyOf(agent), agent])),
    providers: { acme: { baseUrl: upstream.baseUrl, dialect: 'openai' } },
    rateLimits: { gatewayPerMinute: 1_000_000, globalPerMinute: 1_000_000 },
  });
  open.push(world);
  return world;
}

const told = (nearLimitBps?: number) =>
  gateway(
    plainBudgets({ sql: database.sql, enabled: true, ...(nearLimitBps && { nearLimitBps }) }),
  );

const ask = (world: GatewayWorld, headers: Record<string, string> = {}, who = 0) => {
  const agent = agents[who];
  if (agent === undefined) throw new Error('the test has no agent');
  const body = { model: MODEL, messages: [{ role: 'user', content: 'Go.' }] };
  return world.request('/chat/completions', {
    body,
    headers: { authorization: `Bearer ${keyOf(agent)}`, ...headers },
  });
};

const advisory = (answer: Response) =>
  JSON.parse(answer.headers.get(HEADER) ?? 'null') as Record<string, unknown> | null;

const cap = (wanted: Omit<PolicyWish, 'accountId' | 'agentId'>, agentId?: null) =>
  addPolicy(database.sql, {
    accountId,
    agentId: agentId === null ? null : (agents[0]?.agentId ?? 0),
    ...wanted,
  });

describe('the budget advisory of a paid call', () => {
  it('a paid response has no budget advisory where no cap applies', async () => {
    const world = await told();
    await cap({ kind: 'task', matchKey: 'other', limitRaw: 500n });
    const answer = await ask(world);
    expect([answer.status, answer.headers.get(HEADER)]).toEqual([200, null]);
    expect(answer.headers.get(LEFT)).toBe('0.099900');
  });

  it('a paid response’s budget advisory shows the tightest cap after the call, which bounds the remaining balance', async () => {
    const world = await told();
    await cap({ kind: 'session', limitRaw: 5_000n });
    await cap({ kind: 'task', matchKey: 'errand', limitRaw: 1_000n, windowSeconds: 3_600 });
    await ask(world, { 'x-svc-task-id': 'errand' });
    const answer = await ask(world, { 'x-svc-task-id': 'Errand' });
    const figures = { used_bps: 2_000, remaining_raw: '800' };
    const resets = { window_resets_at: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/) };
    expect(advisory(answer)).toEqual({
      tightest: { scope: 'task', match: 'errand', ...figures, window_kind: 'rolling', ...resets },
      ...figures,
      ...resets,
    });
    expect(answer.headers.get(LEFT)).toBe('0.000800');
    const other = await ask(world);
    expect(advisory(other)).toEqual({
      tightest: {
        scope: 'session',
        match: null,
        used_bps: 600,
        remaining_raw: '4700',
        window_kind: 'session',
      },
      used_bps: 600,
      remaining_raw: '4700',
    });
    expect(other.headers.get(LEFT)).toBe('0.004700');
  });

  it('a budget advisory says near_limit from the configured used share on', async () => {
    const world = await told(2_500);
    await cap({ kind: 'session', limitRaw: 800n });
    expect(advisory(await ask(world))).toMatchObject({ near_limit: false, used_bps: 1_250 });
    expect(advisory(await ask(world))).toMatchObject({ near_limit: true, used_bps: 2_500 });
  });

  it('a budget advisory shows more remaining where the value of the task raises the cap', async () => {
    const world = await told();
    const id = await cap({ kind: 'session', limitRaw: 1_000n });
    await database.sql`update policies set limit_ceiling_raw = 5000 where id = ${id}`;
    await database.sql`update agent_funds set version = version + 1, rules_version = rules_version + 1
      where account_id = ${accountId}`;
    const worth = await ask(world, { 'x-svc-task-value': '30000' });
    expect(advisory(worth)).toMatchObject({ remaining_raw: '2900' });
    expect(advisory(await ask(world))).toMatchObject({ remaining_raw: '800' });
  });

  it('a budget advisory counts the spending of the team’s other agents, at most a second late', async () => {
    const world = await told();
    await cap({ kind: 'session', limitRaw: 2_000n }, null);
    for (let i = 0; i < 3; i++) expect((await ask(world, {}, 1)).status).toBe(200);
    const first = await ask(world);
    expect(advisory(first)).toMatchObject({ tightest: { scope: 'session', match: null } });
    await new Promise((resolve) => setTimeout(resolve, SPEND_LIMITS.awareness.teamReadingMs));
    const later = await ask(world);
    expect(advisory(later)).toMatchObject({ used_bps: 2_500, remaining_raw: '1500' });
    expect(later.headers.get(LEFT)).toBe('0.001500');
  });

  it('forty concurrent budget advisories never show less spending than there was', async () => {
    const world = await told();
    await cap({ kind: 'session', limitRaw: 10_000n });
    const answers = await Promise.all(Array.from({ length: 40 }, () => ask(world)));
    const breaker = answers.map((answer) => BigInt(String(advisory(answer)?.remaining_raw)));
    expect(Math.min(...breaker.map(Number))).toBe(10_000 - 40 * 100);
    expect(breaker.every((rest) => rest <= 9_900n)).toBe(true);
  });

  it('a refusal or a failed response that cost nothing has no budget advisory', async () => {
    const world = await told();
    await cap({ kind: 'session', limitRaw: 150n });
    upstream.faults.push({ kind: 'status', status: 400 });
    const declined = await ask(world);
    expect([declined.status, declined.headers.get(HEADER)]).toEqual([400, null]);
    expect((await ask(world)).status).toBe(200);
    const refused = await ask(world);
    expect([refused.status, refused.headers.get(HEADER)]).toEqual([402, null]);
  });
});

describe('an agent whose caps are its own', () => {
  it('a budget advisory of caps that only the agent has costs no further database read', async () => {
    const asked: string[] = [];
    const sql = new Proxy(database.sql, {
      apply(target, self, given) {
        asked.push('team');
        return Reflect.apply(target as never, self, given);
      },
    });
    const world = await gateway(plainBudgets({ sql, enabled: true }));
    await cap({ kind: 'session', limitRaw: 5_000n });
    await cap({ kind: 'task', matchKey: 'errand', limitRaw: 5_000n }, null);
    expect(advisory(await ask(world))).toMatchObject({ remaining_raw: '4900' });
    expect(asked).toEqual([]);
    await ask(world, { 'x-svc-task-id': 'errand' });
    expect(asked).toEqual(['team']);
  });
});

describe('the switch', () => {
  it('a response with advisories switched off names them in no header', async () => {
    await using world = await startWorld();
    const agent = await world.fund('quiet');
    const account = await world.sql<{ id: string }[]>`
      select account_id as id from agents where id = ${agent.agentId}`;
    await addPolicy(world.sql, {
      accountId: account[0]?.id ?? '',
      agentId: agent.agentId,
      kind: 'session',
      limitRaw: 500_000n,
    });
    const answer = await askGuide(world.url, agent.agentKey);
    expect(answer.status).toBe(200);
    expect([...answer.headers.keys()].filter((name) => name.includes('advisory'))).toEqual([]);
    expect(answer.headers.get('access-control-expose-headers')).not.toContain('advisory');
    const cost = BigInt(answer.headers.get('x-svc-cost-usdc') ?? 0);
    expect(answer.headers.get(LEFT)).toBe(`0.${500_000n - cost}`.padEnd(8, '0'));
  });

  it('a response with advisories switched on has one and lets browsers read it', async () => {
    await using world = await startWorld({
      BUDGET_ADVISORY_ENABLED: '1',
      BUDGET_ADVISORY_NEAR_LIMIT_BPS: '9000',
    });
    const agent = await world.fund('told');
    const account = await world.sql<{ id: string }[]>`
      select account_id as id from agents where id = ${agent.agentId}`;
    await addPolicy(world.sql, {
      accountId: account[0]?.id ?? '',
      agentId: agent.agentId,
      kind: 'session',
      limitRaw: 500_000n,
    });
    const answer = await askGuide(world.url, agent.agentKey);
    const cost = BigInt(answer.headers.get('x-svc-cost-usdc') ?? 0);
    expect(JSON.parse(answer.headers.get(HEADER) ?? '')).toMatchObject({
      near_limit: false,
      remaining_raw: `${500_000n - cost}`,
    });
    expect(answer.headers.get('access-control-expose-headers')).toContain(HEADER);
  });
});
