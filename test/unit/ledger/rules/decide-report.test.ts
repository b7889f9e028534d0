import { describe, expect, it } from 'vitest';
import { applyChange } from '../../../../src/ledger/rules/agent-batch.ts';
import type { BalanceState } from '../../../../src/ledger/rules/change.ts';
import type { PlatformCall } from '../../../../src/ledger/rules/companion.ts';
import { decide } from '../../../../src/ledger/rules/decide.ts';
import type { CountedCall } from '../../../../src/ledger/rules/operation.ts';
import { alignCounters } from '../../../../src/ledger/rules/window-position.ts';
import type { Policy } from '../../../../src/policy/policy.ts';
import { ACTIVE } from '../../../support/fakes/memory-ledger.ts';
import { momentAt, policyOf } from '../../../support/spending.ts';

const MINUTE = 60_000;
const START = 1_700_000_000_000;

const CALL: PlatformCall = {
  agentId: 1,
  provider: 'vapi',
  callId: 'call-1',
  costRaw: 70n,
  rank: 1,
  saidAtMs: null,
  seen: ['a'],
  told: [],
  host: 'api.vapi.ai',
  taskId: 'task-1',
  customerId: null,
  durationSeconds: null,
};

const EMPTY: BalanceState = {
  version: 1n,
  rulesVersion: 0n,
  spendableRaw: 0n,
  heldRaw: 0n,
  creditedRaw: 0n,
  consumedRaw: 0n,
  walletRaw: 0n,
  promisedRaw: 0n,
  counters: [],
};

/** Reports a cost at a time. Answers the state after it, and the change. */
function report(
  policies: readonly Policy[],
  state: BalanceState,
  costRaw: bigint,
  nowMs: number,
  before: CountedCall | null = null,
) {
  const rules = { ...ACTIVE, policies };
  const position = momentAt(nowMs, rules);
  const aligned = { ...state, counters: alignCounters(rules, state.counters, position) };
  const operation = {
    kind: 'report',
    agentId: 1,
    call: { ...CALL, costRaw },
    before,
    events: [],
  } as const;
  const decision = decide(aligned, operation, { rules, position, openHolds: new Map() });
  const { change } = decision;
  return { decision, change, state: applyChange(aligned, change, position) };
}

const counted = (state: BalanceState): readonly bigint[] =>
  state.counters.map(({ settledRaw }) => settledRaw);

describe('the report of a call', () => {
  it('the report of a call moves no balance and counts under session, task and api policies, beyond their limits', () => {
    const policies = [
      policyOf({ id: 1, limitRaw: 10n }),
      policyOf({ id: 2, kind: 'task', matchKey: 'task-1', limitRaw: 10n }),
      policyOf({
        id: 3,
        kind: 'api',
        matchKey: 'vapi.ai',
        matchKind: 'host_suffix',
        limitRaw: 10n,
      }),
      policyOf({ id: 4, kind: 'task', matchKey: 'other' }),
      policyOf({ id: 5, kind: 'key', matchKey: '7' }),
    ];
    const { decision, change, state } = report(policies, EMPTY, 70n, START);
    expect(decision.kind).toBe('change');
    expect(counted(state)).toEqual([70n, 70n, 70n, 0n, 0n]);
    expect({ ...state, counters: [] }).toEqual(EMPTY);
    expect(change.posting).toMatchObject({ code: 'platform.report', askedRaw: 70n, entries: [] });
  });

  it.each([
    ['higher', 90n, 90n],
    ['lower', 20n, 20n],
    ['equal', 70n, 70n],
    ['nothing', 0n, 0n],
  ])(
    'a later cost that is %s counts in place of the earlier one, also minutes later',
    (_, costRaw, left) => {
      const policies = [policyOf({ window: { kind: 'rolling', seconds: 3_600 } })];
      const first = report(policies, EMPTY, 70n, START);
      const other = report(policies, first.state, 5n, START + 2 * MINUTE);
      const before = { revision: 1, costRaw: 70n, countedAtMs: START };
      const later = report(policies, other.state, costRaw, START + 20 * MINUTE, before);
      expect(counted(later.state)).toEqual([left + 5n]);
      // An hour after the first report only the other call still counts.
      const end = report(policies, later.state, 0n, START + 61.5 * MINUTE);
      expect(counted(end.state)).toEqual([5n]);
    },
  );

  it('a correction of a call that has left the window changes nothing', () => {
    const policies = [policyOf({ window: { kind: 'calendar', unit: 'day' } })];
    const first = report(policies, EMPTY, 70n, START);
    const before = { revision: 1, costRaw: 70n, countedAtMs: START };
    const next = report(policies, first.state, 5n, START + 86_400_000, before);
    expect(counted(next.state)).toEqual([0n]);
  });

  it('a correction of a call from before a session began anew does not count in the new session', () => {
    const policies = [policyOf({ startsAtMs: START + MINUTE })];
    const first = report(policies, EMPTY, 30n, START + 2 * MINUTE);
    const before = { revision: 1, costRaw: 70n, countedAtMs: START };
    const later = report(policies, first.state, 5n, START + 3 * MINUTE, before);
    expect(counted(later.state)).toEqual([30n]);
    expect(later.change.count).toBeNull();
  });

  it('reports of one call have ids by their number, so that of two decisions on one row only one is written', () => {
    const ids = [null, { revision: 1, costRaw: 1n, countedAtMs: START }].map(
      (before) => report([], EMPTY, 70n, START, before).change.posting?.id,
    );
    expect(ids[0]).toMatch(/^report:1:1:vapi:/);
    expect(ids[1]).toMatch(/^report:1:2:vapi:/);
  });
});
