import { describe, expect, it } from 'vitest';
import { silentLog } from '../../../../src/kernel/log.ts';
import type { Rules } from '../../../../src/ledger/rules/rules.ts';
import type { Counter } from '../../../../src/policy/counter.ts';
import type { CapState } from '../../../../src/policy/evaluate.ts';
import type { Policy } from '../../../../src/policy/policy.ts';
import { advisoryOf, createBudgetReports } from '../../../../src/spend/awareness/budget-left.ts';
import { createTeamReadings } from '../../../../src/spend/awareness/team-readings.ts';
import { ACTIVE } from '../../../support/fakes/memory-ledger.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { counterOf, NOW_MS } from '../../../support/snapshot-arbitrary.ts';
import { FACTS, policyOf } from '../../../support/spending.ts';

const standing = (change: Partial<CapState> = {}): CapState => ({
  policy: policyOf(),
  spentRaw: 8_999n,
  capRaw: 10_000n,
  remainingRaw: 1_001n,
  windowResetsAtMs: null,
  ...change,
});

const told = (change: Partial<CapState>, nearLimitBps?: number) =>
  JSON.parse(advisoryOf(standing(change), nearLimitBps)) as Record<string, unknown>;

describe('advisoryOf', () => {
  it('a budget advisory has the tightest cap nested, and its used share and remaining amount at the top level', () => {
    expect(told({})).toEqual({
      tightest: {
        scope: 'session',
        match: null,
        used_bps: 8_999,
        remaining_raw: '1001',
        window_kind: 'session',
      },
      used_bps: 8_999,
      remaining_raw: '1001',
    });
  });

  it('a budget advisory has near_limit only where the near share is configured', () => {
    expect(told({})).not.toHaveProperty('near_limit');
    expect(told({}, 9_000)).toMatchObject({ near_limit: false });
    expect(told({}, 8_999)).toMatchObject({ near_limit: true });
    expect(told({ spentRaw: 0n }, 0)).toMatchObject({ near_limit: true });
  });

  it('a budget advisory has the reset of a rolling window, and of no other window', () => {
    const windowResetsAtMs = Date.UTC(2026, 10, 22);
    const rolling = policyOf({ window: { kind: 'rolling', seconds: 60 } });
    const at = '2026-11-22T00:00:00.000Z';
    expect(told({ policy: rolling, windowResetsAtMs })).toMatchObject({
      tightest: { window_kind: 'rolling', window_resets_at: at },
      window_resets_at: at,
    });
    const daily = policyOf({ window: { kind: 'calendar', unit: 'day' } });
    const text = advisoryOf(standing({ policy: daily, windowResetsAtMs }), undefined);
    expect(text).not.toContain('window_resets_at');
    expect(text).toContain('"window_kind":"calendar"');
  });

  it('a budget advisory shows a cap that was lowered below its spend or to zero as 100 % used', () => {
    expect(told({ spentRaw: 20_000n, remainingRaw: 0n })).toMatchObject({ used_bps: 10_000 });
    expect(told({ spentRaw: 0n, capRaw: 0n, remainingRaw: 0n })).toMatchObject({
      used_bps: 10_000,
    });
    expect(told({ spentRaw: 9_999_999n, capRaw: 10_000_000n })).toMatchObject({ used_bps: 9_999 });
  });

  it('a budget advisory is plain ASCII, so that a header can carry any task name', () => {
    const policy = policyOf({ kind: 'task', matchKey: 'réservé "1"\n\u{1f600}' });
    const text = advisoryOf(standing({ policy }), undefined);
    expect(text).toMatch(/^[\x20-\x7e]+$/);
    expect(JSON.parse(text)).toMatchObject({ tightest: { scope: 'task', match: policy.matchKey } });
  });
});

/** Reports on an agent with 500 raw, whose policies have counted 10 each. */
function world(
  rules: Partial<Rules>,
  options: { enabled?: boolean; read?: () => Promise<ReadonlyMap<number, Counter>> } = {},
) {
  const asked: (readonly number[])[] = [];
  const counted = (policy: Policy) =>
    counterOf(policy, [{ agoMs: 0, heldRaw: 0n, settledRaw: 10n }]);
  const shared = new Map((rules.teamPolicies ?? []).map((policy) => [policy.id, counted(policy)]));
  const team = createTeamReadings({
    read: async (policyIds) => {
      asked.push(policyIds);
      return options.read === undefined ? shared : options.read();
    },
    clock: new ManualClock(),
    log: silentLog,
  });
  const advisory = { enabled: options.enabled ?? true, nearLimitBps: undefined };
  const reports = createBudgetReports({ team, now: () => NOW_MS, advisory });
  const state = {
    version: 1n,
    rulesVersion: 1n,
    spendableRaw: 500n,
    heldRaw: 0n,
    creditedRaw: 500n,
    consumedRaw: 0n,
    walletRaw: 0n,
    promisedRaw: 0n,
    counters: (rules.policies ?? []).map(counted),
  };
  const funds = { spendableRaw: 500n, heldRaw: 0n };
  const left = (facts = FACTS) =>
    reports.left(
      { funds, after: { state, rules: { ...ACTIVE, ...rules } } },
      { facts, spender: { agentId: 1 } },
    );
  return { asked, left, reports };
}

const task = policyOf({ id: 2, kind: 'task', matchKey: 't1', limitRaw: 40n });
const shared = policyOf({ id: 5, agentId: null, limitRaw: 30n });

describe('what a settlement left', () => {
  it('the remainder after a settlement is the least of the balance and the caps that apply to the spending', async () => {
    const { left, asked } = world({ policies: [task] });
    expect(await left()).toEqual({ remainingRaw: 500n, advisory: undefined });
    const bound = await left({ ...FACTS, taskId: 't1' });
    expect(bound.remainingRaw).toBe(30n);
    expect(bound.advisory).toContain('"scope":"task","match":"t1","used_bps":2500');
    expect(asked, 'an agent of no team costs no look at the database').toEqual([]);
  });

  it('the remainder after a settlement is read without the database where no team cap applies', async () => {
    const { left, asked } = world({ teamPolicies: [{ ...task, agentId: null }] });
    expect((await left()).remainingRaw).toBe(500n);
    expect(asked).toEqual([]);
    expect((await left({ ...FACTS, taskId: 't1' })).remainingRaw).toBe(30n);
    expect(asked).toEqual([[2]]);
  });

  it('the remainder after a settlement counts the spending of the whole team', async () => {
    const { left } = world({ policies: [task], teamPolicies: [shared] });
    const { remainingRaw, advisory } = await left({ ...FACTS, taskId: 't1' });
    expect(remainingRaw).toBe(20n);
    expect(advisory).toContain('"scope":"session","match":null');
  });

  it('the remainder after a settlement leaves out money that is reserved for other tasks', async () => {
    const kept = { ...task, limitRaw: 410n, reserves: true };
    const { left } = world({ policies: [kept] });
    expect((await left()).remainingRaw).toBe(100n);
    expect((await left({ ...FACTS, taskId: 't1' })).remainingRaw).toBe(400n);
  });

  it('the remainder after a settlement is left out where the team’s counters cannot be read', async () => {
    const read = () => Promise.reject(new Error('away'));
    const { left } = world({ teamPolicies: [shared] }, { read });
    expect(await left()).toEqual({ remainingRaw: undefined, advisory: undefined });
  });

  it('the remainder after a settlement comes without an advisory where advisories are switched off', async () => {
    const { left } = world({ policies: [policyOf({ limitRaw: 30n })] }, { enabled: false });
    expect(await left()).toEqual({ remainingRaw: 20n, advisory: undefined });
  });

  it('the remainder after a settlement is the balance where the settlement says nothing more', async () => {
    const { reports } = world({});
    const funds = { spendableRaw: 7n, heldRaw: 0n };
    const bought = { facts: FACTS, spender: { agentId: 1 } };
    expect(await reports.left({ funds }, bought)).toEqual({
      remainingRaw: 7n,
      advisory: undefined,
    });
  });
});
