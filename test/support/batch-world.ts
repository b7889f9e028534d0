import fc from 'fast-check';
import { expect } from 'vitest';
import { addCrossings, applyChange, partOf } from '../../src/ledger/rules/agent-batch.ts';
import type { AgentBatch, AgentBatchOutcome } from '../../src/ledger/rules/change.ts';
import { decide } from '../../src/ledger/rules/decide.ts';
import { exclusiveKey, type Operation } from '../../src/ledger/rules/operation.ts';
import { alignCounters } from '../../src/ledger/rules/window-position.ts';
import { applyBatch } from '../../src/ledger/store/apply-batch.ts';
import { type Balance, findBalance } from '../../src/ledger/store/balances.ts';
import { checkInvariants } from '../../src/ledger/store/check-invariants.ts';
import type { Sql } from '../../src/platform/postgres/sql.ts';
import { emptyCounter } from '../../src/policy/counter.ts';
import { bucketsOf } from '../../src/policy/window.ts';
import { asked, type Drawn } from './batch-arbitrary.ts';
import { clearLedger, ledgerOf, miscounted, readLedger } from './compare-ledger.ts';
import { MemoryLedger } from './fakes/memory-ledger.ts';
import { arbitraryCap, type Cap, insertPolicy } from './policy-arbitrary.ts';
import { momentAt } from './spending.ts';

/** Who sends these batches. */
export const NODE = { nodeId: 'node_a', leaseEpoch: 1 };
/** Far from now: what ends during a run has not ended for the database. */
export const START_MS = Date.UTC(2031, 4, 30, 23, 59);
export const OTHER_WINDOW_MS = 40 * 86_400_000;
const NOTHING_OPEN = new Map<string, bigint>();

/** Decides operations in order on `balance`, with no regard to which of them may ride together. */
export function decidedPart(
  agentId: number,
  { state, rules }: Balance,
  operations: readonly Operation[],
  nowMs = START_MS,
): AgentBatch {
  const position = momentAt(nowMs, rules);
  const world = { rules, position, openHolds: NOTHING_OPEN };
  const before = { ...state, counters: alignCounters(rules, state.counters, position) };
  let now = before;
  const changes = operations.map((operation) => {
    const { change } = decide(now, operation, world);
    if (!change.probe) now = applyChange(now, change, position);
    return change;
  });
  addCrossings(rules, agentId, before, now, changes);
  return partOf(agentId, before, now, changes);
}

export type Caps = { readonly own: readonly (readonly Cap[])[]; readonly teams: readonly Cap[][] };

/** Some caps for each agent, and some for each of two teams. */
export const arbitraryCaps = (agents: number): fc.Arbitrary<Caps> => {
  const some = (maxLength: number) =>
    fc.array(arbitraryCap(START_MS / 1_000), { maxLength, minLength: 0 });
  return fc.record({
    own: fc.array(some(2), { minLength: agents, maxLength: agents }),
    teams: fc.tuple(some(4), some(2)),
  });
};

export type Batch = {
  readonly operations: readonly Drawn[];
  /** How old the version is that each agent's part was decided on, and how late its clock. */
  readonly lags: readonly bigint[];
  readonly lateMs: readonly number[];
  readonly laterMs: number;
  readonly sentTwice: boolean;
  /** Said to be sent again, though the first copy has not arrived. */
  readonly isCopy: boolean;
  /** Only the first operation goes, as most do: its agent's part alone. */
  readonly isAlone: boolean;
};

/** Batches of what is drawn, some decided on an old state, some late, some sent twice. */
export const arbitraryBatches = (
  agents: number,
  drawn: fc.Arbitrary<Drawn>,
  least: { readonly operations: number; readonly batches: number } = { operations: 0, batches: 0 },
): fc.Arbitrary<Batch[]> => {
  const each = <T>(...values: T[]) =>
    fc.array(fc.constantFrom(...values), { minLength: agents, maxLength: agents });
  return fc.array(
    fc.record({
      operations: fc.array(drawn, { minLength: least.operations, maxLength: 8 }),
      lags: each(0n, 0n, 0n, 0n, 0n, 1n),
      lateMs: each(0, 0, 1_100),
      laterMs: fc.constantFrom(0, 0, 500, 5_000, 61_000, 90_000_000),
      sentTwice: fc.constantFrom(false, false, false, true),
      isCopy: fc.constantFrom(false, false, false, true),
      isAlone: fc.constantFrom(false, false, true),
    }),
    { minLength: least.batches, maxLength: 14 },
  );
};

/** An empty ledger with these caps and some money, and its model. */
async function freshWorld(sql: Sql, agents: readonly number[], caps: Caps): Promise<MemoryLedger> {
  await clearLedger(sql);
  const model = new MemoryLedger();
  const accounts = new Set<string>();
  for (const [i, agentId] of agents.entries()) {
    const { accountId } = (await balanceOf(sql, agentId)).rules;
    for (const cap of caps.own[i] ?? []) await insertPolicy(sql, { accountId, agentId }, cap);
    if (accounts.has(accountId)) continue;
    for (const cap of caps.teams[accounts.size] ?? []) {
      const policyId = await insertPolicy(sql, { accountId, agentId: null }, cap);
      model.teamCounters.set(policyId, emptyCounter(policyId, bucketsOf(cap.window)));
    }
    accounts.add(accountId);
  }
  await sql`insert into credit_thresholds (agent_id, threshold_bps, last_state)
    select id, bps, 'below' from agents, unnest(array[500, 5000]) as bps order by id, bps`;
  for (const agentId of agents) model.addAgent(agentId, (await balanceOf(sql, agentId)).rules);
  const parts = agents.map((agentId) =>
    decidedPart(agentId, model.require(agentId), [
      credit(agentId, 80n, `start ${agentId}`),
      credit(agentId, 120n, `deposit ${agentId}`, true),
    ]),
  );
  expect(await applyBatch(sql, NODE, parts)).toEqual(model.applyNow(parts));
  return model;
}

function partsOf(
  model: MemoryLedger,
  agents: readonly number[],
  batch: Batch,
  nowMs: number,
): AgentBatch[] {
  const all = batch.operations.flatMap((drawn) => asked(drawn, agents, model) ?? []);
  const operations = batch.isAlone ? all.slice(0, 1) : all;
  const parts = agents.map((agentId, i) => {
    const { state, rules } = model.require(agentId);
    const lag = batch.lags[i] ?? 0n;
    const mine = operations.filter((operation) => operation.agentId === agentId);
    const balance = { state: { ...state, version: state.version - lag }, rules };
    // The buckets of an old part may be any: its window may have been another one.
    const atMs = lag > 0n ? nowMs + OTHER_WINDOW_MS : nowMs - (batch.lateMs[i] ?? 0);
    return decidedPart(agentId, balance, firstOfEachHold(mine), atMs);
  });
  return batch.isAlone ? parts.filter(({ changes }) => changes.length > 0) : parts;
}

const ALONE_AT_A_HOLD: ReadonlySet<Operation['kind']> = new Set([
  'settle',
  'extend',
  'shrink',
  'advance',
]);

/** What changes a hold never rides in one part with another kind of change: the first kind of them stays. */
function firstOfEachHold(operations: readonly Operation[]): Operation[] {
  const changed = new Map<string, Operation>();
  return operations.filter((operation) => {
    const { kind } = operation;
    if (!ALONE_AT_A_HOLD.has(kind)) return true;
    const holdId = exclusiveKey(operation) ?? '';
    const first = changed.get(holdId) ?? operation;
    changed.set(holdId, first);
    // A step has no posting by which a second one would be seen.
    return kind === 'advance' ? first === operation : first.kind === kind;
  });
}

/** Money from outside; a deposit is in the agent's wallet as well. */
export const credit = (
  agentId: number,
  amountRaw: bigint,
  reference: string,
  deposit = false,
): Operation => ({
  kind: 'credit',
  agentId,
  amountRaw,
  reference,
  events: [],
  deposit,
});

/** An agent's balance that must be there. */
export async function balanceOf(sql: Sql, agentId: number): Promise<Balance> {
  const balance = await findBalance(sql, agentId);
  if (balance === undefined) throw new Error(`no agent ${agentId}`);
  return balance;
}

/** What the database and the model have both said to an operation that was written or looked for. */
export type Said = { readonly change: AgentBatch['changes'][number]; readonly verdict: string };

/**
 * Sends batches to the database and to the model: both must say the same each time, and in the end have the same rows,
 * which add up.
 */
export async function playBatches(
  sql: Sql,
  agents: readonly number[],
  caps: Caps,
  batches: readonly Batch[],
): Promise<readonly Said[]> {
  const model = await freshWorld(sql, agents, caps);
  const said: Said[] = [];
  let nowMs = START_MS;
  for (const batch of batches) {
    nowMs += batch.laterMs;
    const parts = partsOf(model, agents, batch, nowMs);
    // The second time it is what a lost answer leads to.
    for (const resent of batch.sentTwice ? [false, true] : [batch.isCopy]) {
      const expected = model.applyNow(parts, resent);
      expect(await applyBatch(sql, NODE, parts, resent)).toEqual(expected);
      parts.forEach((part, p) => {
        said.push(...saidTo(part, expected[p]));
      });
    }
  }
  expect(await readLedger(sql, agents)).toEqual(ledgerOf(model));
  expect(await miscounted(sql, agents)).toEqual([]);
  expect(await checkInvariants(sql)).toEqual([]);
  expect(model.violations()).toEqual([]);
  return said;
}

const saidTo = (part: AgentBatch, outcome: AgentBatchOutcome | undefined): Said[] =>
  part.changes.map((change, i) => {
    if (outcome?.kind !== 'declined') return { change, verdict: outcome?.kind ?? 'unsaid' };
    const verdict = outcome.outcomes[i]?.kind ?? 'unsaid';
    return { change, verdict: outcome.stale && verdict === 'again' ? 'stale' : verdict };
  });
