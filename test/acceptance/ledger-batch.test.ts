import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BalanceState, Part, PartOutcome } from '../../src/ledger/change.ts';
import { applyDelta, decide, partOf } from '../../src/ledger/decide.ts';
import type { Operation } from '../../src/ledger/operation.ts';
import { applyBatch } from '../../src/store/apply-batch.ts';
import { findBalance } from '../../src/store/balance-store.ts';
import { checkInvariants } from '../../src/store/check-invariants.ts';
import type { Sql } from '../../src/store/sql.ts';
import { arbitraryOperation, withAgent } from '../support/batch-arbitrary.ts';
import { testDatabase } from '../support/database.ts';
import { ACTIVE, MemoryLedger } from '../support/fakes/memory-ledger.ts';
import { seedAgent, seedAgents } from '../support/ledger-world.ts';

const NODE = { nodeId: 'node_a', leaseEpoch: 1 };
const WORLD = { rules: ACTIVE, nowSec: 0, openHolds: new Map<string, bigint>() };

/** Decides operations in order on `state`, with no regard to which of them may ride together. */
function decidedPart(agentId: number, state: BalanceState, operations: readonly Operation[]): Part {
  let now = state;
  const changes = operations.map((operation) => {
    const { change } = decide(now, operation, WORLD);
    if (!change.probe) now = applyDelta(now, change.delta);
    return change;
  });
  return partOf(agentId, state, now, changes);
}

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
  session: null,
});

async function stateOf(sql: Sql, agentId: number): Promise<BalanceState> {
  const balance = await findBalance(sql, agentId);
  if (balance === undefined) throw new Error(`no agent ${agentId}`);
  return balance.state;
}

describe('apply_batch', () => {
  it('does what the model of it does, for any batch, and keeps the invariants', async () => {
    await using db = await testDatabase();
    const agents = (await seedAgents(db.sql, 3)).map((agent) => agent.agentId);
    const model = new MemoryLedger();
    const batches = fc.array(
      fc.record({
        operations: fc.array(arbitraryOperation(agents.length), { maxLength: 6 }),
        lag: fc.constantFrom(0n, 0n, 0n, 1n),
      }),
      { maxLength: 12 },
    );
    let run = 0;
    await fc.assert(
      fc.asyncProperty(batches, async (list) => {
        run++;
        await db.sql`truncate postings, holds, sessions, session_journal`;
        await db.sql`update agent_funds set version = 0, spendable_raw = 0, held_raw = 0,
          credited_raw = 0, consumed_raw = 0`;
        const fresh = new MemoryLedger();
        for (const agentId of agents) fresh.addAgent(agentId);
        Object.assign(model, fresh);
        for (const { operations, lag } of list) {
          const parts = agents.map((agentId, i) => {
            const { state } = model.require(agentId);
            const mine = operations.filter((operation) => operation.agentId === i);
            const decided = mine.map((operation) => withAgent(operation, agentId));
            return decidedPart(agentId, { ...state, version: state.version - lag }, decided);
          });
          if (parts.some((part) => goesBelowZero(model.require(part.agentId).state, part)))
            continue;
          const expected = model.applyNow(parts);
          expect(await applyBatch(db.sql, NODE, parts)).toEqual(expected);
        }
        expect(await checkInvariants(db.sql)).toEqual([]);
        expect(model.violations()).toEqual([]);
        const [rows] = await db.sql<{ postings: number; holds: number; journal: number }[]>`
          select (select count(*)::int from postings) as postings,
            (select count(*)::int from holds) as holds,
            (select count(*)::int from session_journal) as journal`;
        expect(rows).toEqual({
          postings: model.postings.size,
          holds: model.holds.size,
          journal: model.journal.size,
        });
      }),
      { numRuns: 60 },
    );
    expect(run).toBeGreaterThanOrEqual(60);
  });

  it('moves nothing for a posting that stands, and says so', async () => {
    await using db = await testDatabase();
    const { agentId } = await seedAgent(db.sql);
    const send = async (operations: Operation[]) =>
      (
        await applyBatch(db.sql, NODE, [
          decidedPart(agentId, await stateOf(db.sql, agentId), operations),
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
      decidedPart(agentId, await stateOf(db.sql, agentId), operations);
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
          decidedPart(agentId, await stateOf(db.sql, agentId), [operation]),
        ])
      )[0];
    await send(credit(agentId, 5n, 'r'));
    await send(hold(agentId, 'h', 5n));
    expect(await send(hold(agentId, 'h', 5n))).toMatchObject({ outcomes: [{ kind: 'already' }] });
    // Another one is refused: nothing is written, and the version stays.
    expect((await send(hold(agentId, 'g', 1n)))?.kind).toBe('applied');
    expect((await stateOf(db.sql, agentId)).version).toBe(2n);
  });

  it('refuses parts that are out of order, because locks are taken in order', async () => {
    await using db = await testDatabase();
    const [a, b] = (await seedAgents(db.sql, 2)).map((agent) => agent.agentId);
    if (a === undefined || b === undefined) throw new Error('no agents');
    const parts = [
      decidedPart(b, await stateOf(db.sql, b), []),
      decidedPart(a, await stateOf(db.sql, a), []),
    ];
    await expect(applyBatch(db.sql, NODE, parts)).rejects.toThrow('ascending order');
  });

  it('never deadlocks where batches of many agents overlap', async () => {
    await using db = await testDatabase(8);
    const agents = (await seedAgents(db.sql, 40)).map((agent) => agent.agentId);
    let applied = 0;
    const work = async (worker: number) => {
      for (let round = 0; round < 25; round++) {
        const mine = agents.filter((_, i) => (i * 7 + worker + round) % 3 !== 0);
        const parts = await Promise.all(
          mine.map(async (agentId) =>
            decidedPart(agentId, await stateOf(db.sql, agentId), [
              credit(agentId, 1n, `${worker}/${round}/${agentId}`),
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
    expect(applied).toBeGreaterThan(0);
    expect(await checkInvariants(db.sql)).toEqual([]);
  });
});

/** Such a batch cannot come from a balance actor, and the database refuses it whole. */
function goesBelowZero(state: BalanceState, part: Part): boolean {
  let now = state;
  for (const change of part.changes) now = applyDelta(now, change.delta);
  return now.spendableRaw < 0n || now.heldRaw < 0n;
}
