import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import { silentLog } from '../../../src/kernel/log.ts';
import { createLedger, type LiveLedger } from '../../../src/ledger/engine/ledger.ts';
import type { HoldVerdict } from '../../../src/ledger/rules/ledger.ts';
import type { Spender } from '../../../src/ledger/rules/requests.ts';
import { createBalanceStore } from '../../../src/ledger/store/balances.ts';
import { checkInvariants } from '../../../src/ledger/store/check-invariants.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { liveLedger } from '../../support/ledger-load.ts';
import { seedAgents } from '../../support/ledger-world.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { addPolicy, type PolicyWish } from '../../support/policies.ts';

let database: TestDatabase;
let ledger: LiveLedger;
let names = 0;
beforeAll(async () => {
  database = await testDatabase();
  ledger = liveLedger(database.sql, 'enforcement');
});
afterAll(async () => {
  await ledger[Symbol.asyncDispose]();
  const violations = await checkInvariants(database.sql);
  await database[Symbol.asyncDispose]();
  expect(violations).toEqual([]);
});

async function cappedAgent(...policies: Omit<PolicyWish, 'accountId' | 'agentId'>[]) {
  const [agent] = await seedAgents(database.sql, 1);
  if (agent === undefined) throw new Error('no agent');
  const { agentId } = agent;
  const [row] = await database.sql<{ account_id: string }[]>`
    select account_id from agents where id = ${agentId}`;
  const accountId = row?.account_id ?? '';
  await ledger.credit({ agentId, amountRaw: 1_000_000n, reference: `enforce ${agentId}` });
  const ids: number[] = [];
  for (const policy of policies) {
    ids.push(await addPolicy(database.sql, { ...policy, accountId, agentId }));
  }
  return { ...agent, accountId, ids };
}

const hold = (spender: Spender, amountRaw: bigint, host: string | null = null, at = ledger) =>
  at.hold({ spender, holdId: `enforce-${++names}`, amountRaw, destination: { host, payee: null } });

async function spend(spender: Spender, amountRaw: bigint, at = ledger): Promise<HoldVerdict> {
  const verdict = await hold(spender, amountRaw, null, at);
  if (verdict.kind === 'held') {
    const charge = (costRaw: bigint) => ({
      agentId: spender.agentId,
      keyId: spender.keyId ?? null,
      targetUrl: 'x',
      method: 'POST',
      targetHost: 'acme',
      status: 'success' as const,
      costRaw,
      model: null,
      rail: null,
      usage: {},
      taskId: spender.taskId ?? null,
      actionId: null,
      customerId: null,
      sessionId: null,
      payee: null,
      responseStatusCode: 200,
      latencyMs: 1,
      overheadMs: null,
      upstreamMs: null,
    });
    const settled = { hold: verdict.hold, actualRaw: amountRaw, charge } as const;
    await at.settle({ ...settled, account: 'gateway', source: 'acme' });
  }
  return verdict;
}

const breachOf = (verdict: HoldVerdict) =>
  verdict.kind === 'refused' && verdict.refusal.reason === 'cap_exceeded'
    ? verdict.refusal
    : undefined;

describe('a cap that is a kill switch', () => {
  it('a kill-switch cap suspends its agent once under concurrent requests, and every refusal says so', async () => {
    const agent = await cappedAgent({
      kind: 'task',
      matchKey: 'plan',
      limitRaw: 10n,
      action: 'suspend_agent',
    });
    const verdicts = await Promise.all(
      Array.from({ length: 200 }, () => hold({ ...agent, taskId: 'plan' }, 1n)),
    );
    const held = verdicts.flatMap((verdict) => (verdict.kind === 'held' ? [verdict.hold] : []));
    expect(held).toHaveLength(10);
    const refused = verdicts.filter((verdict) => verdict.kind === 'refused');
    for (const { refusal } of refused) {
      if (refusal.reason === 'cap_exceeded') expect(refusal.suspended).toBe(true);
      else expect(refusal.reason).toBe('agent_suspended');
    }
    const [row] = await database.sql`
      select status, suspended_reason from agents where id = ${agent.agentId}`;
    expect(row).toEqual({ status: 'suspended', suspended_reason: `policy:${agent.ids[0]}` });
    const events = await database.sql<{ payload: Record<string, unknown> }[]>`
      select payload from events where name = 'agent.suspended'
        and (payload ->> 'agentId')::integer = ${agent.agentId}`;
    expect(events.map((event) => event.payload.reason)).toEqual([`policy:${agent.ids[0]}`]);
    const stops = await database.sql`
      select 1 from invalidations where kind = 'agent_stopped' and agent_id = ${agent.agentId}`;
    expect(stops).toHaveLength(1);
    expect(await hold(agent, 1n)).toMatchObject({ refusal: { reason: 'agent_suspended' } });
    // What was bought before is still settled.
    for (const one of held) {
      const done = { hold: one, actualRaw: 1n, account: 'gateway', source: 'acme' } as const;
      expect((await ledger.settle(done)).kind).toBe('settled');
    }
  });

  it("a team's kill-switch cap suspends the agent that crossed it, and no other agent of the team", async () => {
    const [one, other] = await seedAgents(database.sql, 2);
    if (one === undefined || other === undefined) throw new Error('no agents');
    const [row] = await database.sql<{ account_id: string }[]>`
      select account_id from agents where id = ${one.agentId}`;
    for (const { agentId } of [one, other]) {
      await ledger.credit({ agentId, amountRaw: 100n, reference: `team switch ${agentId}` });
    }
    await addPolicy(database.sql, {
      accountId: row?.account_id ?? '',
      agentId: null,
      kind: 'session',
      limitRaw: 10n,
      action: 'suspend_agent',
    });
    expect((await spend(one, 10n)).kind).toBe('held');
    expect(breachOf(await hold(one, 1n))?.suspended).toBe(true);
    const statuses = await database.sql<{ id: number; status: string }[]>`
      select id, status from agents where id in (${one.agentId}, ${other.agentId}) order by id`;
    expect(statuses.map(({ status }) => status)).toEqual(['suspended', 'active']);
  });
});

describe('what a cap lets through', () => {
  it('the tightest matching cap limits a hold to its remaining amount, and other caps do not count', async () => {
    const agent = await cappedAgent(
      { kind: 'task', matchKey: 'plan', limitRaw: 100n },
      { kind: 'api', matchKey: 'acme.example', limitRaw: 60n },
      { kind: 'session', limitRaw: 500n },
    );
    const plan = { ...agent, taskId: 'plan' };
    expect((await hold(plan, 50n, 'api.acme.example')).kind).toBe('held');
    const refused = breachOf(await hold(plan, 11n, 'acme.example'));
    expect(refused?.breach).toMatchObject({
      requiredRaw: 11n,
      spentRaw: 50n,
      capRaw: 60n,
      policy: { id: agent.ids[1] },
    });
    expect(refused?.suspended).toBe(false);
    expect((await hold(plan, 50n, 'other.example')).kind).toBe('held');
    expect(breachOf(await hold(plan, 1n))?.breach.policy.id).toBe(agent.ids[0]);
    expect((await hold(agent, 400n)).kind).toBe('held');
    expect(breachOf(await hold(agent, 1n))?.breach.policy.kind).toBe('session');
  });

  it('a cap grows with the value of the task, within its floor and ceiling', async () => {
    const agent = await cappedAgent({ kind: 'task', matchKey: 'plan', limitRaw: 100n });
    await database.sql`
      update policies set limit_floor_raw = 50, limit_ceiling_raw = 300 where id = ${agent.ids[0] ?? 0}`;
    const at = (taskValueBps?: number) => ({
      ...agent,
      taskId: 'plan',
      ...(taskValueBps && { taskValueBps }),
    });
    const fresh = liveLedger(database.sql, 'valued');
    const asked = async (taskValueBps: number | undefined, amountRaw: bigint) =>
      breachOf(await hold(at(taskValueBps), amountRaw, null, fresh))?.breach.capRaw;
    expect(await asked(1, 301n)).toBe(50n);
    expect(await asked(undefined, 301n)).toBe(100n);
    expect(await asked(25_000, 301n)).toBe(250n);
    expect(await asked(100_000, 301n)).toBe(300n);
    expect((await hold(at(100_000), 300n, null, fresh)).kind).toBe('held');
    await fresh[Symbol.asyncDispose]();
  });

  it('a cap shrinks while outcomes are poor, within half a minute, and recovers with the outcomes', async () => {
    const agent = await cappedAgent({ kind: 'task', matchKey: 'plan', limitRaw: 100n });
    await database.sql`
      update policies set quality_throttle_floor_bps = 2000, quality_window_seconds = 3600
      where id = ${agent.ids[0] ?? 0}`;
    const clock = new ManualClock();
    const store = createBalanceStore({
      sql: database.sql,
      node: { nodeId: 'quality', leaseEpoch: 1 },
    });
    await using throttled = createLedger({ store, clock, log: silentLog, now: systemClock.now });
    const capNow = async () => {
      const asked = hold({ ...agent, taskId: 'plan' }, 1_000n, null, throttled);
      return breachOf(await asked)?.breach.capRaw;
    };
    const report = (actionId: string, status: string, score: number | null) => database.sql`
      insert into action_outcomes (agent_id, action_id, status, score_bps)
      values (${agent.agentId}, ${actionId}, ${status}, ${score})
      on conflict (agent_id, action_id) do update set status = excluded.status, score_bps = excluded.score_bps`;
    expect(await capNow()).toBe(100n);
    await report('a', 'success', null);
    await report('b', 'failure', null);
    expect(await capNow()).toBe(100n);
    clock.advance(31_000);
    expect(await capNow()).toBe(50n);
    await report('a', 'failure', null);
    clock.advance(31_000);
    expect(await capNow()).toBe(20n);
    await report('a', 'success', 9_000);
    await report('b', 'partial', null);
    clock.advance(31_000);
    expect(await capNow()).toBe(70n);
  });

  it('a cap recovers once earlier spend has left the window, and not a bucket earlier', async () => {
    const agent = await cappedAgent({
      kind: 'task',
      matchKey: 'plan',
      limitRaw: 100n,
      windowSeconds: 600,
    });
    let nowMs = Date.now();
    const store = createBalanceStore({
      sql: database.sql,
      node: { nodeId: 'windows', leaseEpoch: 1 },
    });
    const timed = createLedger({ store, clock: systemClock, log: silentLog, now: () => nowMs });
    const plan = { ...agent, taskId: 'plan' };
    expect((await spend(plan, 60n, timed)).kind).toBe('held');
    nowMs += 300_000;
    expect((await spend(plan, 40n, timed)).kind).toBe('held');
    expect(breachOf(await spend(plan, 1n, timed))?.breach.spentRaw).toBe(100n);
    nowMs += 299_000;
    expect(breachOf(await spend(plan, 1n, timed))?.breach.spentRaw).toBe(100n);
    // A bucket is a little more than ten seconds wide, and the oldest counts whole.
    nowMs += 22_000;
    expect((await spend(plan, 60n, timed)).kind).toBe('held');
    expect(breachOf(await spend(plan, 1n, timed))?.breach.spentRaw).toBe(100n);
    await timed[Symbol.asyncDispose]();
  });

  it('money that a pre-borrowed task reserves is not available to any other spend', async () => {
    const agent = await cappedAgent({
      kind: 'task',
      matchKey: 'kept',
      limitRaw: 999_900n,
      windowKind: 'once',
    });
    await database.sql`update policies set reserves = true where id = ${agent.ids[0] ?? 0}`;
    const fresh = liveLedger(database.sql, 'kept');
    expect(await hold(agent, 101n, null, fresh)).toMatchObject({
      refusal: { reason: 'insufficient_balance', availableRaw: 100n, requiredRaw: 101n },
    });
    expect((await hold(agent, 60n, null, fresh)).kind).toBe('held');
    expect((await spend({ ...agent, taskId: 'kept' }, 900_000n, fresh)).kind).toBe('held');
    // What the task has spent is no more kept: 99,900 are, of the 99,940 that are left.
    expect((await hold(agent, 41n, null, fresh)).kind).toBe('refused');
    expect((await hold(agent, 40n, null, fresh)).kind).toBe('held');
    await fresh[Symbol.asyncDispose]();
  });
});

describe('a session under caps', () => {
  it('a session under caps has its hold and each extension refused like any hold, and releases everything', async () => {
    const agent = await cappedAgent({ kind: 'session', limitRaw: 100n });
    const opened = await ledger.openSession({
      spender: agent,
      sessionId: `sess-${++names}`,
      reserveRaw: 60n,
      kind: 'realtime',
      target: 'gateway://local/x',
      model: 'local/x',
      account: 'gateway',
      destination: { host: 'local', payee: null },
    });
    if (opened.kind !== 'opened') throw new Error('refused');
    const more = await ledger.extend(opened.claim, 40n);
    if (more.kind !== 'extended') throw new Error('refused');
    const refused = await ledger.extend(more.claim, 1n);
    expect(refused).toMatchObject({ kind: 'refused', refusal: { reason: 'cap_exceeded' } });
    const over = { claim: more.claim, reason: 'done', actualRaw: 30n } as const;
    await ledger.closeSession({ ...over, account: 'gateway', source: 'local' });
    const rest = await hold(agent, 71n);
    expect(breachOf(rest)?.breach).toMatchObject({ spentRaw: 30n, capRaw: 100n });
    expect((await hold(agent, 70n)).kind).toBe('held');
  });

  it.each(['agent', 'team'] as const)(
    'a session is extended up to the cap of its %s, raised by the value of its task',
    async (whose) => {
      const agent = await cappedAgent();
      const policyId = await addPolicy(database.sql, {
        kind: 'session',
        limitRaw: 100n,
        accountId: agent.accountId,
        agentId: whose === 'agent' ? agent.agentId : null,
      });
      await database.sql`
        update policies set limit_floor_raw = 50, limit_ceiling_raw = 300 where id = ${policyId}`;
      const fresh = liveLedger(database.sql, `valued session of ${whose}`);
      const opened = await fresh.openSession({
        spender: { ...agent, taskValueBps: 25_000 },
        sessionId: `sess-${++names}`,
        reserveRaw: 120n,
        kind: 'realtime',
        destination: { host: 'local', payee: null },
        target: 'gateway://local/x',
        model: 'local/x',
        account: 'gateway',
      });
      if (opened.kind !== 'opened') throw new Error('refused');
      const more = await fresh.extend(opened.claim, 130n);
      if (more.kind !== 'extended') throw new Error('refused');
      const refused = await fresh.extend(more.claim, 1n);
      expect(refused).toMatchObject({ refusal: { breach: { capRaw: 250n, spentRaw: 250n } } });
      const over = { claim: more.claim, reason: 'done', actualRaw: 0n } as const;
      await fresh.closeSession({ ...over, account: 'gateway', source: 'local' });
      await fresh[Symbol.asyncDispose]();
    },
  );
});
