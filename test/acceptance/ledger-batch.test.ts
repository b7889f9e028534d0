import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BalanceState, Part, PartOutcome } from '../../src/ledger/change.ts';
import { applyChange, decide, partOf, tellCrossings } from '../../src/ledger/decide.ts';
import { alignCounters } from '../../src/ledger/moment.ts';
import type { Operation } from '../../src/ledger/operation.ts';
import { emptyCounter } from '../../src/policy/counter.ts';
import type { SpendWindow } from '../../src/policy/policy.ts';
import { bucketsOf } from '../../src/policy/window.ts';
import { applyBatch } from '../../src/store/apply-batch.ts';
import { type Balance, findBalance } from '../../src/store/balance-store.ts';
import { checkInvariants } from '../../src/store/check-invariants.ts';
import type { Sql } from '../../src/store/sql.ts';
import { arbitraryOperation, asked, type Drawn } from '../support/batch-arbitrary.ts';
import { clearLedger, ledgerOf, miscounted, readLedger } from '../support/compare-ledger.ts';
import { testDatabase } from '../support/database.ts';
import { MemoryLedger } from '../support/fakes/memory-ledger.ts';
import { seedAgent, seedAgents } from '../support/ledger-world.ts';
import { arbitraryCap, type Cap, insertPolicy } from '../support/policy-arbitrary.ts';
import { DESTINATION, FACTS, momentAt, policyOf } from '../support/spending.ts';

const NODE = { nodeId: 'node_a', leaseEpoch: 1 };
/** Far from now: what ends during a run has not ended for the database. */
const START_MS = Date.UTC(2031, 4, 30, 23, 59);
const OTHER_WINDOW_MS = 40 * 86_400_000;
const NOTHING_OPEN = new Map<string, bigint>();

/** Decides operations in order on `balance`, with no regard to which of them may ride together. */
function decidedPart(
  agentId: number,
  { state, rules }: Balance,
  operations: readonly Operation[],
  nowMs = START_MS,
): Part {
  const moment = momentAt(nowMs, rules);
  const world = { rules, moment, openHolds: NOTHING_OPEN };
  const before = { ...state, counters: alignCounters(rules, state.counters, moment) };
  let now = before;
  const changes = operations.map((operation) => {
    const { change } = decide(now, operation, world);
    if (!change.probe) now = applyChange(now, change, moment);
    return change;
  });
  tellCrossings(rules, agentId, before, now, changes);
  return partOf(agentId, before, now, changes);
}

type Caps = { readonly own: readonly (readonly Cap[])[]; readonly teams: readonly Cap[][] };

/** Some caps for each agent, and some for each of two teams. */
const arbitraryCaps = (agents: number): fc.Arbitrary<Caps> => {
  const some = (maxLength: number) =>
    fc.array(arbitraryCap(START_MS / 1_000), { maxLength, minLength: 0 });
  return fc.record({
    own: fc.array(some(2), { minLength: agents, maxLength: agents }),
    teams: fc.tuple(some(4), some(2)),
  });
};

type Batch = {
  readonly operations: readonly Drawn[];
  /** How old the version is that each agent's part was decided on, and how late its clock. */
  readonly lags: readonly bigint[];
  readonly lateMs: readonly number[];
  readonly laterMs: number;
  readonly sentTwice: boolean;
};

const arbitraryBatches = (agents: number): fc.Arbitrary<Batch[]> => {
  const each = <T>(...values: T[]) =>
    fc.array(fc.constantFrom(...values), { minLength: agents, maxLength: agents });
  return fc.array(
    fc.record({
      operations: fc.array(arbitraryOperation(agents), { maxLength: 8 }),
      lags: each(0n, 0n, 0n, 0n, 0n, 1n),
      lateMs: each(0, 0, 1_100),
      laterMs: fc.constantFrom(0, 0, 500, 5_000, 61_000, 90_000_000),
      sentTwice: fc.constantFrom(false, false, false, true),
    }),
    { maxLength: 14 },
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
    decidedPart(agentId, model.require(agentId), [credit(agentId, 200n, `start ${agentId}`)]),
  );
  expect(await applyBatch(sql, NODE, parts)).toEqual(model.applyNow(parts));
  return model;
}

function partsOf(
  model: MemoryLedger,
  agents: readonly number[],
  batch: Batch,
  nowMs: number,
): Part[] {
  const operations = batch.operations.map((drawn) => asked(drawn, agents, model.holds));
  return agents.map((agentId, i) => {
    const { state, rules } = model.require(agentId);
    const lag = batch.lags[i] ?? 0n;
    const mine = operations.filter((operation) => operation.agentId === agentId);
    const balance = { state: { ...state, version: state.version - lag }, rules };
    // The buckets of an old part may be any: its window may have been another one.
    const atMs = lag > 0n ? nowMs + OTHER_WINDOW_MS : nowMs - (batch.lateMs[i] ?? 0);
    return decidedPart(agentId, balance, firstOfEachHold(mine), atMs);
  });
}

/** A settlement and an extension of one hold never ride in one part: the first of them stays. */
function firstOfEachHold(operations: readonly Operation[]): Operation[] {
  const changed = new Map<string, Operation['kind']>();
  return operations.filter((operation) => {
    const { kind } = operation;
    if (kind !== 'settle' && kind !== 'extend') return true;
    const { holdId } = kind === 'settle' ? operation.hold : operation.claim.hold;
    const first = changed.get(holdId) ?? kind;
    changed.set(holdId, first);
    return first === kind;
  });
}

const verdictsOf = (outcomes: readonly PartOutcome[]): string[] =>
  outcomes.flatMap((outcome) => {
    if (outcome.kind !== 'declined') return [outcome.kind];
    const kinds = outcome.outcomes.map(({ kind }) => kind);
    return outcome.stale ? ['stale', ...kinds] : kinds;
  });

const credit = (agentId: number, amountRaw: bigint, reference: string): Operation => ({
  kind: 'credit',
  agentId,
  amountRaw,
  reference,
  events: [],
});

const hold = (agentId: number, holdId: string, amountRaw: bigint): Operation => ({
  kind: 'hold',
  agentId,
  spender: { agentId },
  holdId,
  amountRaw,
  destination: DESTINATION,
  session: null,
});

const settle = (
  agentId: number,
  holdId: string,
  amountRaw: bigint,
  actualRaw: bigint,
): Operation => ({
  ...{ kind: 'settle', agentId, ends: null },
  hold: { holdId, agentId, amountRaw, facts: FACTS },
  request: { actualRaw, account: 'gateway', source: 's' },
});

async function balanceOf(sql: Sql, agentId: number): Promise<Balance> {
  const balance = await findBalance(sql, agentId);
  if (balance === undefined) throw new Error(`no agent ${agentId}`);
  return balance;
}

const stateOf = async (sql: Sql, agentId: number): Promise<BalanceState> =>
  (await balanceOf(sql, agentId)).state;

/** Two agents with money under one cap of their team; what is sent for both goes in one batch. */
async function cappedTeam(limitRaw: bigint, window: SpendWindow = { kind: 'session' }) {
  const db = await testDatabase();
  const { sql } = db;
  const agents = (await seedAgents(sql, 2)).map((agent) => agent.agentId);
  const [a = 0, b = 0] = agents;
  const { accountId } = (await balanceOf(sql, a)).rules;
  await insertPolicy(sql, { accountId, agentId: null }, policyOf({ limitRaw, window }));
  const send = async (operations: Operation[]) => {
    const parts = agents.map(async (agentId) => {
      const mine = operations.filter((operation) => operation.agentId === agentId);
      return decidedPart(agentId, await balanceOf(sql, agentId), mine);
    });
    return applyBatch(sql, NODE, await Promise.all(parts));
  };
  await send([credit(a, 50n, 'a'), credit(b, 50n, 'b')]);
  return { db, a, b, send, [Symbol.asyncDispose]: () => db[Symbol.asyncDispose]() };
}

describe('apply_batch', () => {
  it('does what the model of it does, for any batch, and keeps the invariants', async () => {
    await using db = await testDatabase();
    const team = await seedAgents(db.sql, 3);
    const agents = [...team, await seedAgent(db.sql)].map((agent) => agent.agentId);
    const verdicts = new Set<string>();
    await fc.assert(
      fc.asyncProperty(
        arbitraryCaps(agents.length),
        arbitraryBatches(agents.length),
        async (caps, batches) => {
          const model = await freshWorld(db.sql, agents, caps);
          let nowMs = START_MS;
          for (const batch of batches) {
            nowMs += batch.laterMs;
            const parts = partsOf(model, agents, batch, nowMs);
            // The second time it is what a lost answer leads to.
            for (const _ of batch.sentTwice ? [1, 2] : [1]) {
              const expected = model.applyNow(parts);
              expect(await applyBatch(db.sql, NODE, parts)).toEqual(expected);
              for (const verdict of verdictsOf(expected)) verdicts.add(verdict);
            }
          }
          expect(await readLedger(db.sql, agents)).toEqual(ledgerOf(model));
          expect(await miscounted(db.sql, agents)).toEqual([]);
          expect(await checkInvariants(db.sql)).toEqual([]);
          expect(model.violations()).toEqual([]);
        },
      ),
      { numRuns: 150, interruptAfterTimeLimit: 45_000 },
    );
    const all = ['again', 'already', 'applied', 'capped', 'conflict', 'lost', 'mismatch', 'stale'];
    expect([...verdicts].sort()).toEqual(all);
  });

  it('moves nothing for a posting that stands, and says so', async () => {
    await using db = await testDatabase();
    const { agentId } = await seedAgent(db.sql);
    const send = async (operations: Operation[]) =>
      (
        await applyBatch(db.sql, NODE, [
          decidedPart(agentId, await balanceOf(db.sql, agentId), operations),
        ])
      )[0];
    expect((await send([credit(agentId, 5n, 'r')]))?.kind).toBe('applied');
    expect(await send([credit(agentId, 5n, 'r'), hold(agentId, 'h', 1n)])).toMatchObject({
      kind: 'declined',
      stale: false,
      outcomes: [{ kind: 'already' }, { kind: 'again' }],
    });
    expect(await send([credit(agentId, 6n, 'r')])).toMatchObject({
      outcomes: [{ kind: 'conflict' }],
    });
    expect((await stateOf(db.sql, agentId)).spendableRaw).toBe(5n);
  });

  it('applies one of two equal ids in a batch, of one agent or of two', async () => {
    await using db = await testDatabase();
    const [a, b] = (await seedAgents(db.sql, 2)).map((agent) => agent.agentId);
    if (a === undefined || b === undefined) throw new Error('no agents');
    const fresh = async (agentId: number, operations: Operation[]) =>
      decidedPart(agentId, await balanceOf(db.sql, agentId), operations);
    const twice = await applyBatch(db.sql, NODE, [
      await fresh(a, [credit(a, 5n, 'x'), credit(a, 5n, 'x')]),
    ]);
    expect(twice[0]?.kind).toBe('declined');
    expect((await stateOf(db.sql, a)).creditedRaw).toBe(0n);
    const both = await applyBatch(db.sql, NODE, [
      await fresh(a, [credit(a, 5n, 'x')]),
      await fresh(b, [credit(b, 5n, 'x')]),
    ]);
    expect(both.map((outcome) => outcome.kind)).toEqual(['applied', 'declined']);
    const after = await applyBatch(db.sql, NODE, [await fresh(b, [credit(b, 5n, 'x')])]);
    expect(after[0]).toMatchObject({ outcomes: [{ kind: 'conflict' }] });
    expect(await checkInvariants(db.sql)).toEqual([]);
  });

  it('finds a hold that stands although the balance would no longer carry it', async () => {
    await using db = await testDatabase();
    const { agentId } = await seedAgent(db.sql);
    const send = async (operation: Operation): Promise<PartOutcome | undefined> =>
      (
        await applyBatch(db.sql, NODE, [
          decidedPart(agentId, await balanceOf(db.sql, agentId), [operation]),
        ])
      )[0];
    await send(credit(agentId, 5n, 'r'));
    await send(hold(agentId, 'h', 5n));
    expect(await send(hold(agentId, 'h', 5n))).toMatchObject({ outcomes: [{ kind: 'already' }] });
    // Another one is refused: nothing is written, and the version stays.
    expect((await send(hold(agentId, 'g', 1n)))?.kind).toBe('applied');
    expect((await stateOf(db.sql, agentId)).version).toBe(2n);
  });

  it('admits under the cap of a team what is left when those before it have settled', async () => {
    await using w = await cappedTeam(10n);
    const { a, b, send } = w;
    await send([hold(a, 'beyond', 2n), hold(a, 'within', 5n)]);
    // Settled beyond its hold: eight count by now, and three more do not fit.
    expect(await send([settle(a, 'beyond', 2n, 3n), hold(b, 'g', 3n)])).toMatchObject([
      { kind: 'applied' },
      { kind: 'declined', outcomes: [{ kind: 'capped', spentRaw: 8n }] },
    ]);
    // Settled to less than its hold: what is given back fits.
    expect(await send([settle(a, 'within', 5n, 1n), hold(b, 'g', 6n)])).toMatchObject([
      { kind: 'applied' },
      { kind: 'applied' },
    ]);
    expect(await miscounted(w.db.sql, [a, b])).toEqual([]);
  });

  it('gives back what a part had taken under the cap of a team where the part does not stand', async () => {
    await using w = await cappedTeam(10n);
    const { a, b, send } = w;
    expect(await send([hold(a, 'x', 6n), hold(a, 'y', 6n), hold(b, 'z', 9n)])).toMatchObject([
      { kind: 'declined', outcomes: [{ kind: 'again' }, { kind: 'capped', spentRaw: 6n }] },
      { kind: 'applied' },
    ]);
    expect(await miscounted(w.db.sql, [a, b])).toEqual([]);
  });

  it('rolls the window of a team no further than the parts that may stand have got', async () => {
    await using w = await cappedTeam(10n, { kind: 'calendar', unit: 'day' });
    const { a, b, send } = w;
    await send([hold(a, 'x', 5n)]);
    await send([settle(a, 'x', 5n, 5n)]);
    const { state, rules } = await balanceOf(w.db.sql, a);
    const stale = { state: { ...state, version: state.version - 1n }, rules };
    const outcomes = await applyBatch(w.db.sql, NODE, [
      decidedPart(a, stale, [hold(a, 'y', 1n)], START_MS + OTHER_WINDOW_MS),
      decidedPart(b, await balanceOf(w.db.sql, b), [hold(b, 'z', 6n)]),
    ]);
    expect(outcomes).toMatchObject([
      { kind: 'declined', stale: true },
      { kind: 'declined', outcomes: [{ kind: 'capped', spentRaw: 5n }] },
    ]);
  });

  it('refuses parts that are out of order, because locks are taken in order', async () => {
    await using db = await testDatabase();
    const [a, b] = (await seedAgents(db.sql, 2)).map((agent) => agent.agentId);
    if (a === undefined || b === undefined) throw new Error('no agents');
    const parts = [
      decidedPart(b, await balanceOf(db.sql, b), []),
      decidedPart(a, await balanceOf(db.sql, a), []),
    ];
    await expect(applyBatch(db.sql, NODE, parts)).rejects.toThrow('ascending order');
  });

  it('never deadlocks where batches of many agents overlap', async () => {
    await using db = await testDatabase(8);
    const agents = (await seedAgents(db.sql, 40)).map((agent) => agent.agentId);
    const { accountId } = (await balanceOf(db.sql, agents[0] ?? 0)).rules;
    const cap = policyOf({ limitRaw: 1_000_000n });
    for (let i = 0; i < 3; i++) await insertPolicy(db.sql, { accountId, agentId: null }, cap);
    let applied = 0;
    const work = async (worker: number) => {
      for (let round = 0; round < 25; round++) {
        const mine = agents.filter((_, i) => (i * 7 + worker + round) % 3 !== 0);
        const parts = await Promise.all(
          mine.map(async (agentId) =>
            decidedPart(agentId, await balanceOf(db.sql, agentId), [
              credit(agentId, 1n, `${worker}/${round}/${agentId}`),
              hold(agentId, `${worker}/${round}/${agentId}`, 1n),
            ]),
          ),
        );
        const outcomes = await applyBatch(db.sql, NODE, parts);
        applied += outcomes.filter((outcome) => outcome.kind === 'applied').length;
      }
    };
    await Promise.all([0, 1, 2, 3].map(work));
    const [row] = await db.sql<{ credited: bigint }[]>`
      select sum(credited_raw)::bigint as credited from agent_funds`;
    expect(row?.credited).toBe(BigInt(applied));
    expect(await miscounted(db.sql, agents)).toEqual([]);
    expect(applied).toBeGreaterThan(0);
    expect(await checkInvariants(db.sql)).toEqual([]);
  });
});
