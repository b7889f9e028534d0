import { expect, it } from 'vitest';
import { createLedgerCounters } from '../../../../src/ledger/engine/ledger-counters.ts';
import { noteReport } from '../../../../src/ledger/engine/note-report.ts';
import { Pending, type TakenOperation } from '../../../../src/ledger/engine/pending-operation.ts';
import { resolveBatch } from '../../../../src/ledger/engine/resolve-batch.ts';
import type {
  AgentBatchOutcome,
  BalanceState,
  ChangeOutcome,
} from '../../../../src/ledger/rules/change.ts';
import { decide } from '../../../../src/ledger/rules/decide.ts';
import type { SettleOperation } from '../../../../src/ledger/rules/operation.ts';
import { ACTIVE } from '../../../support/fakes/memory-ledger.ts';
import { FACTS, momentAt } from '../../../support/spending.ts';

const AGENT = 7;
/** Ten are held and nothing else is there. */
const STATE: BalanceState = {
  version: 3n,
  rulesVersion: 0n,
  spendableRaw: 0n,
  heldRaw: 10n,
  creditedRaw: 10n,
  consumedRaw: 0n,
  walletRaw: 0n,
  promisedRaw: 0n,
  counters: [],
};
const WORLD = { rules: ACTIVE, position: momentAt(1_000_000), openHolds: new Map() };

/** A settlement of the hold to so much, on its way; it has met so many misses before. */
function settling(actualRaw: bigint, misses = 0): TakenOperation {
  const operation: SettleOperation = {
    kind: 'settle',
    agentId: AGENT,
    ends: null,
    move: null,
    hold: { holdId: 'h', agentId: AGENT, amountRaw: 10n, facts: FACTS },
    request: { actualRaw, account: 'gateway', source: 'acme' },
  };
  const nothing = () => {};
  const pending = new Pending(operation, 0, { count: 0 }, nothing, nothing);
  pending.misses = misses;
  return { pending, decision: decide(STATE, operation, WORLD) };
}

const APPLIED: AgentBatchOutcome = { kind: 'applied', state: STATE };
const declined = (stale: boolean, ...outcomes: ChangeOutcome[]): AgentBatchOutcome => ({
  kind: 'declined',
  state: STATE,
  stale,
  outcomes,
});

/** What is counted and logged of what the database said. */
function noted(taken: readonly TakenOperation[], outcome: AgentBatchOutcome, mostMisses = 0) {
  const counters = { ...createLedgerCounters(), mostMisses };
  const lines: unknown[] = [];
  const log = { error: (...line: unknown[]) => void lines.push(line) };
  const report = resolveBatch(taken, outcome, undefined);
  noteReport({ agentId: AGENT, counters, log: log as never }, report);
  return { counters, lines };
}

it('a shortfall beyond a hold is counted and logged, to the raw unit', () => {
  const { counters, lines } = noted([settling(13n), settling(10n), settling(14n)], APPLIED);
  expect(counters).toEqual({ ...createLedgerCounters(), shortfalls: 2, shortfallRaw: 7n });
  const told = (shortfallRaw: string) => [
    { agentId: AGENT, kind: 'settle', shortfallRaw },
    'what was used goes beyond what was held for it',
  ];
  expect(lines).toEqual([told('3'), told('4')]);
});

it('a ledger operation that conflicts with another posting of the same id is counted and logged', () => {
  const { counters, lines } = noted([settling(4n)], declined(false, { kind: 'conflict' }));
  expect(counters).toEqual({ ...createLedgerCounters(), conflicts: 1 });
  expect(lines).toEqual([
    [{ agentId: AGENT, kind: 'settle' }, 'another posting stands under this id'],
  ]);
});

it('the ledger keeps the most misses of any operation, and logs nothing of them', () => {
  const again = declined(true, { kind: 'again' }, { kind: 'again' }, { kind: 'lost' });
  const taken = () => [settling(1n, 3), settling(1n, 1), settling(1n, 9)];
  const { counters, lines } = noted(taken(), again);
  // The one that is lost is not asked for again.
  expect([counters.mostMisses, lines]).toEqual([4, []]);
  expect(noted(taken(), again, 6).counters.mostMisses).toBe(6);
});
