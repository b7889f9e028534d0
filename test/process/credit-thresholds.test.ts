import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createInvalidations } from '../../src/accounts/keys/invalidations.ts';
import { silentLog } from '../../src/kernel/log.ts';
import { checkInvariants } from '../../src/ledger/store/check-invariants.ts';
import { createCreditThresholds } from '../../src/spend/awareness/credit-thresholds.ts';
import { SPEND_LIMITS } from '../../src/spend/limits.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { liveLedger, spendUnits } from '../support/ledger-load.ts';
import { ledgerProcess } from '../support/ledger-process.ts';
import { seedAgent } from '../support/ledger-world.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase();
});
afterAll(async () => {
  await db[Symbol.asyncDispose]();
});

const thresholds = () => {
  const { sql } = db;
  return createCreditThresholds({
    sql,
    invalidations: createInvalidations({ sql, log: silentLog }),
  });
};

type Told = { name: string; payload: { thresholdId: number; utilizationBps: number } };

/** What was told of an agent's funding, in the order of its commits. */
const toldOf = (agentId: number): Promise<Told[]> => db.sql<Told[]>`
  select name, payload from events where payload ->> 'agentId' = ${String(agentId)} order by id`;

/** An agent that was given so much and watches these shares of it. */
async function watched(creditRaw: bigint, ...bps: number[]) {
  const agent = await seedAgent(db.sql);
  const { agentId } = agent;
  await using ledger = liveLedger(db.sql, `funding of ${agentId}`);
  await ledger.credit({ agentId, amountRaw: creditRaw, reference: `start ${agentId}` });
  const made = [];
  for (const thresholdBps of bps) {
    made.push(await thresholds().create(agentId, { thresholdBps, webhookId: null }));
  }
  return { agent, agentId, made };
}

describe('a threshold that is crossed', () => {
  it('a credit threshold writes one event on the way up and one on the way down, in the commit that crosses it', async () => {
    const { agent, agentId, made } = await watched(100n, 5_000, 9_500);
    await using ledger = liveLedger(db.sql, 'a');
    await spendUnits(ledger, agent, 49, 'below');
    expect(await toldOf(agentId)).toEqual([]);
    await spendUnits(ledger, agent, 1, 'at');
    expect(await toldOf(agentId)).toMatchObject([
      {
        name: 'credit.warning',
        payload: { thresholdId: made[0]?.id, thresholdBps: 5_000, utilizationBps: 5_000 },
      },
    ]);
    await spendUnits(ledger, agent, 45, 'limit');
    expect((await toldOf(agentId)).map(({ name }) => name)).toEqual([
      'credit.warning',
      'credit.at_limit',
    ]);
    expect(await thresholds().list(agentId)).toMatchObject([
      { lastState: 'above', lastFiredAt: expect.stringMatching(/Z$/) },
      { lastState: 'above', lastFiredAt: expect.stringMatching(/Z$/) },
    ]);
    await ledger.credit({ agentId, amountRaw: 50n, reference: `more ${agentId}` });
    await ledger.credit({ agentId, amountRaw: 50n, reference: `more ${agentId}` });
    expect((await toldOf(agentId)).slice(2)).toMatchObject([
      { name: 'credit.recovered', payload: { thresholdBps: 9_500, utilizationBps: 6_333 } },
    ]);
    await ledger.credit({ agentId, amountRaw: 100n, reference: `most ${agentId}` });
    expect((await toldOf(agentId)).map(({ name }) => name).slice(3)).toEqual(['credit.recovered']);
    expect(await thresholds().list(agentId)).toMatchObject([
      { lastState: 'below' },
      { lastState: 'below' },
    ]);
    expect(await checkInvariants(db.sql)).toEqual([]);
  });

  it('a new credit threshold starts on the agent’s current side and reports the next crossing', async () => {
    const { agent, agentId } = await watched(100n);
    await using ledger = liveLedger(db.sql, 'a');
    await spendUnits(ledger, agent, 60, 'spent');
    const { create } = thresholds();
    expect(await create(agentId, { thresholdBps: 6_000, webhookId: null })).toMatchObject({
      lastState: 'above',
      lastFiredAt: null,
    });
    expect(await create(agentId, { thresholdBps: 6_001, webhookId: null })).toMatchObject({
      lastState: 'below',
    });
    await spendUnits(ledger, agent, 1, 'one more');
    expect(await toldOf(agentId)).toMatchObject([
      { name: 'credit.warning', payload: { thresholdBps: 6_001 } },
    ]);
  });

  it('a credit threshold that is removed after a ledger loaded it is no longer reported by that ledger', async () => {
    const { agent, agentId, made } = await watched(10n, 5_000);
    await using ledger = liveLedger(db.sql, 'a');
    await spendUnits(ledger, agent, 1, 'known');
    await thresholds().remove(agentId, made[0]?.id ?? 0);
    await spendUnits(ledger, agent, 9, 'gone');
    expect(await toldOf(agentId)).toEqual([]);
  });

  it('a credit threshold is reported exactly once with 200 concurrent settlements in two ledgers', async () => {
    const shares = [1_000, 2_500, 5_000, 7_500, 9_500, 10_000];
    const { agent, agentId } = await watched(200n, ...shares);
    await using here = liveLedger(db.sql, 'here');
    await using there = liveLedger(db.sql, 'there');
    await Promise.all([
      spendUnits(here, agent, 100, 'here', 100),
      spendUnits(there, agent, 100, 'there', 100),
    ]);
    expect(await eventsByShare(agentId)).toEqual(onceEach(shares));
    expect(await checkInvariants(db.sql)).toEqual([]);
  });

  it('a credit threshold is reported exactly once by two processes and ends in the state above', async () => {
    const shares = [500, 5_000, 9_999];
    const { agent, agentId } = await watched(400n, ...shares);
    await using a = await ledgerProcess(db.target, 'process a');
    await using b = await ledgerProcess(db.target, 'process b');
    const task = { kind: 'spend', agent, works: 200 } as const;
    await Promise.all([a.run({ ...task, prefix: 'a' }), b.run({ ...task, prefix: 'b' })]);
    expect(await eventsByShare(agentId)).toEqual(onceEach(shares));
    for (const threshold of await thresholds().list(agentId)) {
      expect(threshold.lastState).toBe('above');
    }
  });

  it('a credit threshold that is created while money moves starts on the side that the next commit sees', async () => {
    const { agent, agentId } = await watched(400n);
    await using ledger = liveLedger(db.sql, 'a');
    const spending = spendUnits(ledger, agent, 400, 'moving');
    const shares = Array.from({ length: 12 }, (_, i) => (i + 1) * 800);
    const made = [];
    for (const thresholdBps of shares) {
      made.push(await thresholds().create(agentId, { thresholdBps, webhookId: null }));
    }
    await spending;
    const told = new Set((await toldOf(agentId)).map(({ payload }) => payload.thresholdId));
    expect(told.size).toBe((await toldOf(agentId)).length);
    // An agent that began above crossed before the threshold was watched; every other crossing is reported.
    for (const { id, lastState } of made) expect(told.has(id), `${id}`).toBe(lastState === 'below');
  });

  it('a credit threshold’s event is never lost or repeated by processes that are killed', async () => {
    const shares = Array.from({ length: 20 }, (_, i) => (i + 1) * 5);
    const { agent, agentId } = await watched(100_000n, ...shares);
    for (let round = 0; round < 5; round++) {
      await using doomed = await ledgerProcess(db.target, `doomed ${round}`);
      doomed.begin({ kind: 'spend', agent, works: 100_000, prefix: `round ${round}` });
      await new Promise((resolve) => setTimeout(resolve, 60 + 70 * round));
      await doomed.kill();
    }
    // What the dead have left held counts as long as it is held.
    const [row] = await db.sql<{ used: bigint; credited: bigint }[]>`
      select consumed_raw + held_raw as used, credited_raw as credited from agent_funds
      where agent_id = ${agentId}`;
    const usedBps = Number(((row?.used ?? 0n) * 10_000n) / (row?.credited ?? 1n));
    expect(usedBps, 'something was spent').toBeGreaterThan(5);
    expect(await eventsByShare(agentId)).toEqual(onceEach(shares.filter((bps) => bps <= usedBps)));
    for (const { thresholdBps, lastState } of await thresholds().list(agentId)) {
      expect(lastState).toBe(thresholdBps <= usedBps ? 'above' : 'below');
    }
  });
});

/** How often each threshold was told of, and as what. */
async function eventsByShare(agentId: number): Promise<Record<string, number>> {
  const rows = await db.sql<{ what: string; times: number }[]>`
    select payload ->> 'thresholdBps' || ' ' || name as what, count(*)::int as times
    from events where payload ->> 'agentId' = ${String(agentId)} group by 1`;
  return Object.fromEntries(rows.map(({ what, times }) => [what, times]));
}

const onceEach = (shares: readonly number[]): Record<string, number> =>
  Object.fromEntries(
    shares.map((bps) => [`${bps} credit.${bps >= 9_500 ? 'at_limit' : 'warning'}`, 1]),
  );

describe('the bound on thresholds', () => {
  it('concurrent requests create no more than `thresholdsPerAgent` credit thresholds', async () => {
    const { agentId } = await watched(1n);
    const asked = await Promise.allSettled(
      Array.from({ length: SPEND_LIMITS.awareness.thresholdsPerAgent + 10 }, (_, i) =>
        thresholds().create(agentId, { thresholdBps: i + 1, webhookId: null }),
      ),
    );
    const made = asked.filter(({ status }) => status === 'fulfilled');
    expect(made).toHaveLength(SPEND_LIMITS.awareness.thresholdsPerAgent);
    expect(await thresholds().list(agentId)).toHaveLength(
      SPEND_LIMITS.awareness.thresholdsPerAgent,
    );
  });
});
