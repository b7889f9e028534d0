import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AgentBatchOutcome, BalanceState } from '../../../src/ledger/rules/change.ts';
import type { Operation } from '../../../src/ledger/rules/operation.ts';
import { applyBatch } from '../../../src/ledger/store/apply-batch.ts';
import { checkInvariants } from '../../../src/ledger/store/check-invariants.ts';
import type { Sql } from '../../../src/platform/postgres/sql.ts';
import type { SpendWindow } from '../../../src/policy/policy.ts';
import { arbitraryOperation } from '../../support/batch-arbitrary.ts';
import {
  arbitraryBatches,
  arbitraryCaps,
  balanceOf,
  credit,
  decidedPart,
  NODE,
  OTHER_WINDOW_MS,
  playBatches,
  START_MS,
} from '../../support/batch-world.ts';
import { miscounted } from '../../support/compare-ledger.ts';
import { testDatabase } from '../../support/database.ts';
import { seedAgent, seedAgents } from '../../support/ledger-world.ts';
import { insertPolicy } from '../../support/policy-arbitrary.ts';
import { DESTINATION, FACTS, policyOf } from '../../support/spending.ts';

const hold = (agentId: number, holdId: string, amountRaw: bigint): Operation => ({
  kind: 'hold',
  agentId,
  spender: { agentId },
  holdId,
  amountRaw,
  destination: DESTINATION,
  session: null,
  reservation: null,
});

const settle = (
  agentId: number,
  holdId: string,
  amountRaw: bigint,
  actualRaw: bigint,
): Operation => ({
  kind: 'settle',
  agentId,
  ends: null,
  move: null,
  hold: { holdId, agentId, amountRaw, facts: FACTS },
  request: { actualRaw, account: 'gateway', source: 's' },
});

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
  it('apply_batch decides any batch as its model does, and keeps the ledger’s invariants', async () => {
    await using db = await testDatabase();
    const team = await seedAgents(db.sql, 3);
    const agents = [...team, await seedAgent(db.sql)].map((agent) => agent.agentId);
    const verdicts = new Set<string>();
    await fc.assert(
      fc.asyncProperty(
        arbitraryCaps(agents.length),
        arbitraryBatches(agents.length, arbitraryOperation(agents.length)),
        async (caps, batches) => {
          for (const { verdict } of await playBatches(db.sql, agents, caps, batches)) {
            verdicts.add(verdict);
          }
        },
      ),
      { numRuns: 150, interruptAfterTimeLimit: 45_000 },
    );
    const all = ['again', 'already', 'applied', 'capped', 'conflict', 'lost', 'mismatch', 'stale'];
    expect([...verdicts].sort()).toEqual(all);
  });

  it('apply_batch moves nothing for a posting that exists, and reports it', async () => {
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

  it('apply_batch applies one of two equal posting ids in a batch, of one agent or of two', async () => {
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

  it('apply_batch checks a lone operation against its version, the amount of its hold and its id', async () => {
    await using db = await testDatabase();
    const { agentId } = await seedAgent(db.sql);
    const alone = async (
      operation: Operation,
      lag = 0n,
    ): Promise<AgentBatchOutcome | undefined> => {
      const { state, rules } = await balanceOf(db.sql, agentId);
      const known = { state: { ...state, version: state.version - lag }, rules };
      return (await applyBatch(db.sql, NODE, [decidedPart(agentId, known, [operation])]))[0];
    };
    expect((await alone(credit(agentId, 50n, 'r')))?.kind).toBe('applied');
    expect(await alone(hold(agentId, 'h', 5n), 1n)).toMatchObject({ stale: true });
    expect((await alone(hold(agentId, 'h', 5n)))?.kind).toBe('applied');
    expect(await alone(hold(agentId, 'h', 5n))).toMatchObject({ outcomes: [{ kind: 'already' }] });
    expect(await alone(hold(agentId, 'h', 6n))).toMatchObject({ outcomes: [{ kind: 'conflict' }] });
    expect(await alone(settle(agentId, 'h', 6n, 5n))).toMatchObject({
      outcomes: [{ kind: 'mismatch', openRaw: 5n }],
    });
    expect((await alone(settle(agentId, 'h', 5n, 5n)))?.kind).toBe('applied');
    expect(await alone(settle(agentId, 'h', 5n, 5n))).toMatchObject({
      outcomes: [{ kind: 'already' }],
    });
    const { spendableRaw, heldRaw, consumedRaw } = await stateOf(db.sql, agentId);
    expect([spendableRaw, heldRaw, consumedRaw]).toEqual([45n, 0n, 5n]);
    expect(await checkInvariants(db.sql)).toEqual([]);
  });

  it('apply_batch reports an existing hold as made even when the balance would no longer cover it', async () => {
    await using db = await testDatabase();
    const { agentId } = await seedAgent(db.sql);
    const send = async (operation: Operation): Promise<AgentBatchOutcome | undefined> =>
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

  it('apply_batch admits under a team cap what earlier settlements in the batch left of it', async () => {
    await using w = await cappedTeam(10n);
    const { a, b, send } = w;
    await send([hold(a, 'beyond', 2n), hold(a, 'within', 5n)]);
    // Settled beyond its hold: no more than the hold counts, which makes seven, and four more do not fit.
    expect(await send([settle(a, 'beyond', 2n, 3n), hold(b, 'g', 4n)])).toMatchObject([
      { kind: 'applied' },
      { kind: 'declined', outcomes: [{ kind: 'capped', spentRaw: 7n }] },
    ]);
    // Settled to less than its hold: what is given back fits.
    expect(await send([settle(a, 'within', 5n, 1n), hold(b, 'g', 6n)])).toMatchObject([
      { kind: 'applied' },
      { kind: 'applied' },
    ]);
    expect(await miscounted(w.db.sql, [a, b])).toEqual([]);
  });

  it('apply_batch returns a declined agent batch’s share of the team cap to the next batch', async () => {
    await using w = await cappedTeam(10n);
    const { a, b, send } = w;
    expect(await send([hold(a, 'x', 6n), hold(a, 'y', 6n), hold(b, 'z', 9n)])).toMatchObject([
      { kind: 'declined', outcomes: [{ kind: 'again' }, { kind: 'capped', spentRaw: 6n }] },
      { kind: 'applied' },
    ]);
    expect(await miscounted(w.db.sql, [a, b])).toEqual([]);
  });

  it('apply_batch never applies the late original of a batch whose resent copy a cap refused', async () => {
    await using w = await cappedTeam(10n);
    const { a, b, send } = w;
    const { sql } = w.db;
    await send([hold(b, 'before', 8n)]);
    const parts = [
      decidedPart(a, await balanceOf(sql, a), [hold(a, 'late', 5n)]),
      decidedPart(b, await balanceOf(sql, b), [credit(b, 1n, 'beside')]),
    ];
    const capped = { kind: 'capped', spentRaw: 8n };
    // The copy that was sent again is the first to arrive. What stands in it is fenced by that.
    expect(await applyBatch(sql, NODE, parts, true)).toMatchObject([
      { kind: 'declined', outcomes: [capped] },
      { kind: 'applied' },
    ]);
    await send([settle(b, 'before', 8n, 0n)]);
    expect(await applyBatch(sql, NODE, parts)).toMatchObject([
      { kind: 'declined', stale: true },
      { kind: 'declined', stale: true, outcomes: [{ kind: 'already' }] },
    ]);
    expect(await sql`select id from holds`).toEqual([]);
    // An operation that has no outcome yet may still be let through.
    await send([hold(b, 'again', 8n)]);
    const once = [decidedPart(a, await balanceOf(sql, a), [hold(a, 'next', 5n)])];
    expect(await applyBatch(sql, NODE, once)).toMatchObject([{ stale: false, outcomes: [capped] }]);
    await send([settle(b, 'again', 8n, 0n)]);
    expect(await applyBatch(sql, NODE, once, true)).toMatchObject([{ kind: 'applied' }]);
    expect(await miscounted(sql, [a, b])).toEqual([]);
  });

  it('apply_batch does not advance a team’s window for an agent batch that is declined', async () => {
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

  it('apply_batch refuses agent batches out of order, since it locks them in order', async () => {
    await using db = await testDatabase();
    const [a, b] = (await seedAgents(db.sql, 2)).map((agent) => agent.agentId);
    if (a === undefined || b === undefined) throw new Error('no agents');
    const parts = [
      decidedPart(b, await balanceOf(db.sql, b), []),
      decidedPart(a, await balanceOf(db.sql, a), []),
    ];
    await expect(applyBatch(db.sql, NODE, parts)).rejects.toThrow('ascending order');
  });

  it('apply_batch never deadlocks when batches of many agents overlap', async () => {
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
