import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decide } from '../../../../src/ledger/rules/decide.ts';
import type { Rules } from '../../../../src/ledger/rules/rules.ts';
import { type SpendReading, spendStateOf } from '../../../../src/ledger/rules/spend-state.ts';
import { type Counter, spentRaw } from '../../../../src/policy/counter.ts';
import {
  hostOf,
  resolveSpend,
  type SpendRequest,
} from '../../../../src/spend/limits/resolve-spend.ts';
import { arbitraryReading, NOW_MS } from '../../../support/snapshot-arbitrary.ts';
import { policyOf } from '../../../support/spending.ts';
import { type StandingsWish, standingsWith } from '../../../support/standings.ts';

const PAYEE = `0x${'aa'.repeat(20)}`;

const wanted = (change: Partial<SpendRequest> = {}): SpendRequest => ({
  host: 'api.acme.test',
  recipient: null,
  amountRaw: 10n,
  taskId: null,
  key: null,
  ...change,
});

const declined = (world: StandingsWish, change: Partial<SpendRequest> = {}) => {
  const resolved = resolveSpend(standingsWith(world), wanted(change));
  if (resolved.decision === 'approve') throw new Error('it was approved');
  return resolved.decline;
};

const api = policyOf({ id: 3, kind: 'api', matchKey: '.acme.test', matchKind: 'host_suffix' });
const vendor = policyOf({ id: 4, kind: 'vendor', matchKey: PAYEE, matchKind: 'recipient' });

describe('resolveSpend', () => {
  it('resolveSpend approves exactly what the ledger would hold, for any policies, counters and facts', () => {
    const arbitraryWish = fc.record({
      host: fc.constantFrom('acme.test', 'API.acme.test', 'other.test'),
      recipient: fc.constantFrom('0xaa', '0xBB'),
      amountRaw: fc.oneof(fc.bigInt({ min: 0n, max: 9n }), fc.bigInt({ min: 0n, max: 120n })),
      taskId: fc.constantFrom(null, 't1', 't2'),
      key: fc.oneof(
        { weight: 9, arbitrary: fc.constantFrom(null, { id: 1, rootId: 1 }, { id: 1, rootId: 2 }) },
        { weight: 1, arbitrary: fc.constant({ id: 9, rootId: 9 }) },
      ),
    });
    const seen = { approve: 0, decline: 0 };
    fc.assert(
      fc.property(arbitraryReading, arbitraryWish, (reading, asked) => {
        const { decision } = resolveSpend(spendStateOf(reading), asked);
        seen[decision]++;
        expect(decision).toBe(isHeld(reading, asked) ? 'approve' : 'decline');
      }),
      { numRuns: 3_000 },
    );
    expect(Math.min(seen.approve, seen.decline), JSON.stringify(seen)).toBeGreaterThan(300);
  });

  it('resolveSpend names the tightest limit: the balance, or the older of two equal caps', () => {
    const cap = (id: number, limitRaw: bigint) => [policyOf({ id, limitRaw }), 0n] as const;
    const resolved = (world: StandingsWish) => resolveSpend(standingsWith(world), wanted());
    expect(resolved({ own: [cap(1, 2_000n)] })).toMatchObject({
      decision: 'approve',
      effectiveRemainingRaw: '1000',
      binding: { scope: 'balance', kind: null, policyId: null, remainingRaw: '1000' },
    });
    expect(
      resolved({
        own: [cap(1, 60n), cap(3, 50n)],
        team: [[policyOf({ id: 2, agentId: null, limitRaw: 50n }), 0n]],
      }),
    ).toMatchObject({
      effectiveRemainingRaw: '50',
      binding: { scope: 'developer', policyId: 2, limitRaw: '50', spentRaw: '0' },
    });
  });

  it('resolveSpend checks the allowlist first, then the balance, then the caps', () => {
    const spent = [policyOf({ limitRaw: 5n }), 5n] as const;
    const poor = { spendableRaw: 0n, own: [spent] };
    expect(declined({ ...poor, rules: { allowlistMode: 'both' } }).error).toBe(
      'host_not_allowlisted',
    );
    expect(declined(poor).error).toBe('insufficient_balance');
    expect(declined({ own: [spent] }).error).toBe('spend_limit_exceeded');
  });

  it('resolveSpend declines with the errors of real requests', () => {
    expect(declined({ rules: { allowlistMode: 'host' } })).toMatchObject({
      error: 'host_not_allowlisted',
      host: 'api.acme.test',
    });
    const listed = { own: [[api, 0n]] } as const;
    expect(declined({ ...listed, rules: { allowlistMode: 'both' } })).toMatchObject({
      error: 'unresolvable_recipient',
      host: 'api.acme.test',
      recipient: null,
    });
    const elsewhere = { recipient: `0x${'BB'.repeat(20)}` };
    expect(declined({ ...listed, rules: { allowlistMode: 'both' } }, elsewhere)).toMatchObject({
      error: 'vendor_not_allowlisted',
      recipient: elsewhere.recipient.toLowerCase(),
    });
    expect(declined({ spendableRaw: 4n })).toMatchObject({
      error: 'insufficient_balance',
      available: '4',
      required: '10',
    });
    expect(declined({ own: [[policyOf({ limitRaw: 12n }), 5n]] })).toMatchObject({
      error: 'spend_limit_exceeded',
      spent: '5',
      limit: '12',
      required: '10',
    });
    const labelled = { ...api, label: 'tools', limitRaw: 12n };
    expect(declined({ own: [[labelled, 5n]] })).toMatchObject({
      error: 'policy_exceeded',
      kind: 'api',
      matchKey: '.acme.test',
      policyId: 3,
      label: 'tools',
      reason: null,
      spent: '5',
      limit: '12',
      required: '10',
    });
    const switched = declined({ own: [[{ ...labelled, action: 'suspend_agent' }, 5n]] });
    expect(switched, 'asking suspends no agent').not.toHaveProperty('auto_suspended');
    const shared = policyOf({ id: 8, agentId: null, limitRaw: 12n });
    expect(declined({ team: [[shared, 5n]] })).toMatchObject({
      error: 'policy_exceeded',
      kind: 'session',
      policyId: 8,
      spent: '5',
    });
    expect(declined({}, { host: 'not a host' })).toMatchObject({
      error: 'unresolvable_host',
      host: 'not a host',
    });
  });

  it('resolveSpend declines for an inactive agent, an expired delegation or an unknown key before all else', () => {
    const error = (rules: Partial<Rules>, change: Partial<SpendRequest> = {}) =>
      declined({ rules: { allowlistMode: 'both', ...rules } }, { host: '?', ...change }).error;
    expect(error({ status: 'suspended' })).toBe('agent_suspended');
    expect(error({ status: 'closed' })).toBe('account_closed');
    expect(error({ status: 'pending_delegation' })).toBe('agent_not_active');
    expect(error({ operatorExpirySec: NOW_MS / 1_000 - 1 })).toBe('delegation_expired');
    expect(error({}, { key: { id: 5, rootId: 5 } })).toBe('Invalid API key');
  });

  it('resolveSpend counts a key’s spending under the budget of its root key', () => {
    const budget = policyOf({ id: 6, kind: 'key', matchKey: '21', limitRaw: 5n });
    const world = { own: [[budget, 0n]], rules: { keyIds: new Set([40]) } } as const;
    expect(declined(world, { key: { id: 40, rootId: 21 } })).toMatchObject({
      error: 'policy_exceeded',
      kind: 'key',
      matchKey: '21',
    });
    expect(resolveSpend(standingsWith(world), wanted()).decision).toBe('approve');
  });

  it('resolveSpend lets only the task itself spend what is reserved for it', () => {
    const kept = policyOf({
      id: 9,
      kind: 'task',
      matchKey: 't1',
      limitRaw: 900n,
      reserves: true,
      window: { kind: 'once' },
    });
    const world = { own: [[kept, 100n]] } as const;
    expect(declined(world, { amountRaw: 201n })).toMatchObject({
      error: 'insufficient_balance',
      available: '200',
    });
    expect(
      resolveSpend(standingsWith(world), wanted({ taskId: 't1', amountRaw: 800n })),
    ).toMatchObject({
      effectiveRemainingRaw: '800',
    });
  });

  it('resolveSpend approves a payee on the vendor allowlist, in any spelling', () => {
    const world = { own: [[vendor, 0n]], rules: { allowlistMode: 'vendor' } } as const;
    const asked = wanted({ recipient: PAYEE.toUpperCase().replace('0X', '0x') });
    expect(resolveSpend(standingsWith(world), asked).decision).toBe('approve');
  });
});

/** What becomes of the hold: decided as the ledger does, then by the locked counters of the team. */
function isHeld(reading: SpendReading, asked: SpendRequest): boolean {
  const { rules, position, state, counters, teamCounters } = reading;
  const listed = [...rules.policies, ...rules.teamPolicies].some(
    ({ kind, matchKey, effectiveFromSec: from, expiresAtSec: until }) =>
      kind === 'api' &&
      asked.host.toLowerCase().endsWith(String(matchKey).replace(/^\./, '')) &&
      (!String(matchKey).startsWith('.') ? asked.host.toLowerCase() === matchKey : true) &&
      (from === null || from <= position.nowSec) &&
      (until === null || position.nowSec < until),
  );
  // Before anything is sent the host is judged, whatever the payee is in the end.
  if ((rules.allowlistMode === 'host' || rules.allowlistMode === 'both') && !listed) return false;
  const { key, taskId, amountRaw } = asked;
  const decision = decide(
    { ...state, counters },
    {
      kind: 'hold',
      agentId: 7,
      holdId: 'h',
      amountRaw,
      session: null,
      reservation: null,
      spender: {
        agentId: 7,
        ...(key !== null && { keyId: key.id, keyRootId: key.rootId }),
        ...(taskId !== null && { taskId }),
      },
      destination: {
        host: asked.host.toLowerCase(),
        payee: asked.recipient?.toLowerCase() ?? null,
      },
    },
    { rules, position, openHolds: new Map() },
  );
  if (decision.kind === 'refused') return false;
  return (decision.change.count?.team ?? []).every(({ policy, bucket, capRaw }) => {
    const counter = teamCounters.find(({ policyId }) => policyId === policy.id) as Counter;
    return capRaw === null || spentRaw(counter, bucket) + amountRaw <= capRaw;
  });
}

describe('hostOf', () => {
  it.each([
    ['api.acme.test', 'api.acme.test'],
    ['API.Acme.Test', 'api.acme.test'],
    ['api.acme.test.', 'api.acme.test'],
    ['api.acme.test:8443', 'api.acme.test'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['openai', 'openai'],
    ['203.0.113.7', '203.0.113.7'],
    ['[2001:db8::1]', '[2001:db8::1]'],
    [' acme.test ', 'acme.test'],
  ])('hostOf reads %j as %j', (text, host) => {
    expect(hostOf(text)).toBe(host);
  });

  it.each([
    '',
    ' ',
    '.',
    '..',
    'a..b',
    'a b',
    '-a.test',
    'a-.test',
    'https://acme.test',
    'acme.test/path',
    'acme.test?x',
    'user@acme.test',
    'acme.test:99999',
    'a\0b',
    '%zz',
    'a\\b',
    `${'a'.repeat(64)}.test`,
    `${'a.'.repeat(127)}test`,
    '[::1',
    '#',
  ])('hostOf refuses %j', (text) => {
    expect(hostOf(text)).toBeUndefined();
  });
});
