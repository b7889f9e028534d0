import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import { silentLog } from '../../../src/kernel/log.ts';
import { checkLedger } from '../../../src/ledger/engine/check-ledger.ts';
import { createLedger, type LiveLedger } from '../../../src/ledger/engine/ledger.ts';
import { createTakeSession } from '../../../src/ledger/engine/take-session.ts';
import { bumpRules } from '../../../src/ledger/store/agent-funds.ts';
import { createBalanceStore } from '../../../src/ledger/store/balances.ts';
import { checkInvariants } from '../../../src/ledger/store/check-invariants.ts';
import type { Sql } from '../../../src/platform/postgres/sql.ts';
import { testDatabase } from '../../support/database.ts';
import { seedAgent, seedAgents } from '../../support/ledger-world.ts';
import { LIVE_SESSION } from '../../support/reaping-process.ts';
import { DESTINATION, FACTS } from '../../support/spending.ts';

const ledgerOn = (sql: Sql, nodeId: string): LiveLedger =>
  createLedger({
    store: createBalanceStore({ sql, node: { nodeId, leaseEpoch: 1 } }),
    clock: systemClock,
    log: silentLog,
  });

async function seedOne(sql: Sql) {
  return seedAgent(sql);
}

const step = fc.record({
  who: fc.nat({ max: 1 }),
  agent: fc.nat({ max: 2 }),
  kind: fc.constantFrom('hold', 'hold', 'settle', 'credit', 'withdraw'),
  name: fc.nat({ max: 9 }),
  amountRaw: fc.bigInt({ min: 1n, max: 50n }),
});

describe('two ledgers on one database', () => {
  it('two ledgers on one database keep the invariants under any operations, with repeats and conflicts', async () => {
    await using db = await testDatabase();
    const agents = await seedAgents(db.sql, 3);
    const ledgers = [ledgerOn(db.sql, 'a'), ledgerOn(db.sql, 'b')];
    let run = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 60 }), async (steps) => {
        run++;
        const accepted = new Map<string, Set<bigint>>();
        const act = async ({ who, agent, kind, name, amountRaw }: (typeof steps)[number]) => {
          const ledger = ledgers[who] ?? ledgerOn(db.sql, 'c');
          const { agentId, keyId } = agents[agent] ?? { agentId: 0, keyId: 0 };
          const id = `${run}/${agent}/${name}`;
          const hold = { holdId: id, agentId, amountRaw, facts: FACTS };
          if (kind === 'hold') {
            // A hold id that was used with another amount is a bug of the caller, and thrown.
            await ledger
              .hold({
                spender: { agentId, keyId },
                holdId: id,
                amountRaw,
                destination: DESTINATION,
              })
              .catch(() => {});
          } else if (kind === 'settle') {
            const request = { actualRaw: amountRaw * 2n, account: 'gateway', source: 's' } as const;
            await ledger.settle({ hold, ...request });
          } else if (kind === 'credit') {
            const verdict = await ledger.credit({ agentId, amountRaw, reference: id });
            const amounts = accepted.get(id) ?? new Set();
            if (verdict.kind !== 'conflict') accepted.set(id, amounts.add(amountRaw));
          } else await ledger.withdrawAll({ agentId, reference: id });
        };
        await Promise.all(steps.map(act));
        for (const amounts of accepted.values()) expect(amounts.size).toBe(1);
        expect(await checkInvariants(db.sql)).toEqual([]);
      }),
      { numRuns: 40 },
    );
    for (const ledger of ledgers) {
      expect(ledger.counters.mostMisses).toBeLessThanOrEqual(3);
      expect(ledger.load().waiting).toBe(0);
    }
  });

  it('two ledgers on one database allow exactly 100 of 200 concurrent holds when 100 fit', async () => {
    await using db = await testDatabase();
    const { agentId, keyId } = await seedOne(db.sql);
    const ledgers = [ledgerOn(db.sql, 'a'), ledgerOn(db.sql, 'b')];
    await ledgers[0]?.credit({ agentId, amountRaw: 100n, reference: 'start' });
    const verdicts = await Promise.all(
      Array.from({ length: 200 }, (_, i) =>
        ledgers[i % 2]?.hold({
          spender: { agentId, keyId },
          holdId: `h${i}`,
          amountRaw: 1n,
          destination: DESTINATION,
        }),
      ),
    );
    expect(verdicts.filter((verdict) => verdict?.kind === 'held')).toHaveLength(100);
    expect(await checkInvariants(db.sql)).toEqual([]);
  });

  it('two ledgers on one database credit a reference once, and tell a repeat from a conflict', async () => {
    await using db = await testDatabase();
    const { agentId } = await seedOne(db.sql);
    const ledgers = [ledgerOn(db.sql, 'a'), ledgerOn(db.sql, 'b')];
    const credit = (i: number, amountRaw: bigint) =>
      ledgers[i % 2]?.credit({ agentId, amountRaw, reference: 'r' });
    const same = await Promise.all([0, 1, 2, 3, 4, 5].map((i) => credit(i, 10n)));
    const kinds = same.map((verdict) => verdict?.kind).sort();
    expect(kinds).toEqual([...Array(5).fill('already_credited'), 'credited']);
    expect((await credit(1, 11n))?.kind).toBe('conflict');
    expect(await ledgers[0]?.funds(agentId)).toMatchObject({ spendableRaw: 10n });
  });

  it('two ledgers on one database both refuse a revoked key and a suspended agent at the next hold', async () => {
    await using db = await testDatabase();
    const { agentId, keyId } = await seedOne(db.sql);
    const ledgers = [ledgerOn(db.sql, 'a'), ledgerOn(db.sql, 'b')];
    await ledgers[0]?.credit({ agentId, amountRaw: 100n, reference: 'start' });
    const hold = async (i: number, holdId: string) =>
      ledgers[i]?.hold({
        spender: { agentId, keyId },
        holdId,
        amountRaw: 1n,
        destination: DESTINATION,
      });
    expect((await Promise.all([hold(0, 'a'), hold(1, 'b')])).map((v) => v?.kind)).toEqual([
      'held',
      'held',
    ]);
    await db.sql.begin(async (tx) => {
      await tx`update agent_keys set revoked_at = now() where id = ${keyId}`;
      await bumpRules(tx, agentId);
    });
    const refused = { kind: 'refused', refusal: { reason: 'key_revoked' } };
    expect(await Promise.all([hold(0, 'c'), hold(1, 'd')])).toEqual([refused, refused]);
    await db.sql.begin(async (tx) => {
      await tx`update agents set status = 'suspended' where id = ${agentId}`;
      await bumpRules(tx, agentId);
    });
    const suspended = { kind: 'refused', refusal: { reason: 'agent_suspended' } };
    expect(await Promise.all([hold(0, 'e'), hold(1, 'f')])).toEqual([suspended, suspended]);
  });

  it('a ledger refuses a credit beyond the largest possible balance, and continues', async () => {
    await using db = await testDatabase();
    const { agentId } = await seedOne(db.sql);
    const ledger = ledgerOn(db.sql, 'a');
    const credit = async (amountRaw: bigint, reference: string) =>
      (await ledger.credit({ agentId, amountRaw, reference })).kind;
    expect(await credit(2n ** 63n - 6n, 'most')).toBe('credited');
    expect(await credit(6n, 'more')).toBe('too_large');
    expect(await credit(2n ** 63n - 6n, 'most')).toBe('already_credited');
    expect(await credit(5n, 'rest')).toBe('credited');
    expect(await ledger.funds(agentId)).toMatchObject({ spendableRaw: 2n ** 63n - 1n });
    expect(await checkInvariants(db.sql)).toEqual([]);
  });

  it('no session of a revoked key is extended, by the process that opened it or by one that took it over', async () => {
    await using db = await testDatabase();
    const { sql } = db;
    const { agentId, keyId } = await seedOne(sql);
    const ledgers = [ledgerOn(sql, 'a'), ledgerOn(sql, 'b')];
    await ledgers[0]?.credit({ agentId, amountRaw: 100n, reference: 'start' });
    const opened = await ledgers[0]?.openSession({
      ...LIVE_SESSION,
      spender: { agentId, keyId },
      sessionId: 'sess_1',
      reserveRaw: 10n,
    });
    if (opened?.kind !== 'opened') throw new Error('refused');
    const extended = await ledgers[0]?.extend(opened.claim, 5n);
    if (extended?.kind !== 'extended') throw new Error('refused');
    await sql.begin(async (tx) => {
      await tx`update agent_keys set revoked_at = now() where id = ${keyId}`;
      await bumpRules(tx, agentId);
    });
    const refused = { kind: 'refused', refusal: { reason: 'key_revoked' } };
    expect(await ledgers[0]?.extend(extended.claim, 5n)).toEqual(refused);
    const taken = await createTakeSession({ sql, node: { nodeId: 'b', leaseEpoch: 1 } })('sess_1');
    if (taken === undefined) throw new Error('not taken');
    expect(await ledgers[1]?.extend(taken.claim, 5n)).toEqual(refused);
    expect(await ledgers[0]?.funds(agentId)).toMatchObject({ spendableRaw: 85n, heldRaw: 15n });
    expect(await checkInvariants(sql)).toEqual([]);
  });

  it('a ledger writes charge, events and session rows once, in the commit of the money', async () => {
    await using db = await testDatabase();
    const { agentId, keyId } = await seedOne(db.sql);
    const ledger = ledgerOn(db.sql, 'a');
    const event = {
      name: 'agent.funded',
      accountId: 'acct_1',
      agentWallet: null,
      correlationId: 'c',
      payload: { amount: '10', note: 'é, "q" {}' },
    };
    for (let i = 0; i < 2; i++) {
      await ledger.credit({ agentId, amountRaw: 10n, reference: 'r', events: [event] });
    }
    const events = await db.sql`select name, account_id, payload from events`;
    expect(events).toEqual([
      { name: 'agent.funded', account_id: 'acct_1', payload: event.payload },
    ]);
    await ledger.hold({
      spender: { agentId, keyId },
      holdId: 'h',
      amountRaw: 5n,
      destination: DESTINATION,
    });
    for (let i = 0; i < 2; i++) {
      await ledger.settle({
        hold: { holdId: 'h', agentId, amountRaw: 5n, facts: FACTS },
        actualRaw: 50n,
        account: 'gateway',
        source: 'acme',
        charges: (costRaw) => [
          {
            agentId,
            keyId,
            targetUrl: 'gateway://acme/m',
            targetHost: 'acme',
            method: 'POST',
            status: 'success',
            costRaw,
            model: 'm',
            rail: 'byok',
            usage: { request: 1 },
            taskId: 't',
            actionId: null,
            customerId: null,
            sessionId: null,
            payee: null,
            responseStatusCode: 200,
            latencyMs: 1.6,
            overheadMs: 0.2,
            upstreamMs: null,
          },
        ],
      });
    }
    const charges = await db.sql`select posting_id, cost_raw, usage, latency_ms from charges`;
    expect(charges).toEqual([
      { posting_id: 'resolve:h', cost_raw: 5n, usage: { request: 1 }, latency_ms: 2 },
    ]);
    expect(ledger.counters).toMatchObject({ shortfalls: 1, shortfallRaw: 45n });
  });

  it('a ledger settles work with any odd text in its tags', async () => {
    await using db = await testDatabase();
    const { agentId, keyId } = await seedOne(db.sql);
    const ledger = ledgerOn(db.sql, 'a');
    await ledger.credit({ agentId, amountRaw: 10n, reference: 'r' });
    const holdId = 'h';
    await ledger.hold({
      spender: { agentId, keyId },
      holdId,
      amountRaw: 5n,
      destination: DESTINATION,
    });
    const taskId = 'nul \0, half \ud83d, whole \u{1f600}, back\\u0000slash';
    const verdict = await ledger.settle({
      hold: { holdId, agentId, amountRaw: 5n, facts: FACTS },
      actualRaw: 5n,
      account: 'gateway',
      source: 'acme',
      charges: (costRaw) => [
        {
          agentId,
          keyId,
          targetUrl: 'u',
          targetHost: 'h',
          method: 'POST',
          status: 'success',
          costRaw,
          model: null,
          rail: null,
          usage: {},
          taskId,
          actionId: null,
          customerId: null,
          sessionId: null,
          payee: null,
          responseStatusCode: 200,
          latencyMs: 1,
          overheadMs: null,
          upstreamMs: null,
        },
      ],
    });
    expect(verdict.kind).toBe('settled');
    expect(await db.sql`select task_id from charges`).toEqual([
      { task_id: 'nul , half \ufffd, whole \u{1f600}, back\\u0000slash' },
    ]);
  });

  it('a ledger carries out every operation of a batch except the one that the database cannot store', async () => {
    await using db = await testDatabase();
    const { agentId } = await seedOne(db.sql);
    const ledger = ledgerOn(db.sql, 'a');
    const credit = (reference: string) => ledger.credit({ agentId, amountRaw: 1n, reference });
    await credit('first');
    const results = await Promise.allSettled([credit('a'), credit('nul \0'), credit('b')]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await ledger.funds(agentId)).toMatchObject({ spendableRaw: 3n });
    expect(ledger.counters.failed).toBe(1);
  });

  it('a ledger whose books do not add up raises an alarm at start-up', async () => {
    await using db = await testDatabase();
    const { agentId } = await seedOne(db.sql);
    await ledgerOn(db.sql, 'a').credit({ agentId, amountRaw: 10n, reference: 'r' });
    expect(await checkLedger({ sql: db.sql, log: silentLog })).toEqual([]);
    await db.sql`update agent_funds set spendable_raw = 11, credited_raw = 11`;
    expect(await checkLedger({ sql: db.sql, log: silentLog })).toMatchObject([
      { invariant: 1, agentId },
    ]);
  });
});
