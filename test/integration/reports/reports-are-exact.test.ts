import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Sql, SqlTransaction } from '../../../src/platform/postgres/sql.ts';
import { openSql } from '../../../src/platform/postgres/sql.ts';
import { rollUpReports } from '../../../src/reports/roll-up.ts';
import { rollUp } from '../../../src/reports/roll-up-store.ts';
import { createSpendReports, type SpendReports } from '../../../src/reports/spend-reports.ts';
import type { SpendSource } from '../../../src/reports/spend-source.ts';
import type { SpendGroup } from '../../../src/reports/spend-store.ts';
import { saveReconciled } from '../../../src/spend/attribution/reconciled-store.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { exhaustive } from '../../support/exhaustive.ts';
import { seedAgents } from '../../support/ledger-world.ts';
import { type ReportRow, readRows, sumRows } from '../../support/report-rows.ts';

let database: TestDatabase;
let sql: Sql;
beforeAll(async () => {
  database = await testDatabase();
  sql = database.sql;
});
afterAll(() => database[Symbol.asyncDispose]());

const GROUPS: readonly SpendGroup[] = ['source', 'host', 'customer', 'task', 'agent', 'day'];
const DAYS = ['2026-11-26', '2026-11-27', '2026-11-28', '2026-11-29'] as const;
/** Windows: none, all days, the first ones, the last one, a reversed one. */
const WINDOWS = [
  {},
  { since: DAYS[0], until: DAYS[3] },
  { until: DAYS[1] },
  { since: DAYS[3] },
  { since: DAYS[2], until: DAYS[1] },
] as const;
/** Charges of one agent that a roll-up takes at once: fewer than there are. */
const ROWS = 3;

const tag = fc.constantFrom(null, 'a', 'b', 'ü"\'');
const Charge = fc.record({
  agent: fc.nat({ max: 2 }),
  at: fc.record({
    day: fc.constantFrom(...DAYS),
    edge: fc.constantFrom('00:00:00', '23:59:59.999999'),
  }),
  url: fc.constantFrom('gateway://acme/x', 'phone://+1/call/2', 'https://x.test/a'),
  rail: fc.constantFrom(null, 'byok', 'x402'),
  session: fc.constantFrom(null, 'sess_1'),
  host: fc.constantFrom('acme', 'x.test', 'phone'),
  status: fc.constantFrom('success', 'failed'),
  customer: tag,
  task: tag,
  costRaw: fc.oneof(fc.constant(0n), fc.bigInt({ min: 1n, max: 1_000_000_000_000_000n })),
  latencyMs: fc.oneof(fc.constant(null), fc.nat({ max: 100_000 })),
});
type NewCharge = typeof Charge extends fc.Arbitrary<infer T> ? T : never;

const Step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('charge' as const), charge: Charge }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('pay' as const), charge: Charge }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom('settled' as const, 'upload' as const),
      charge: Charge,
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        'roll up' as const,
        'abandon' as const,
        'kill' as const,
        'race' as const,
      ),
    }),
  },
);

/** Writes a charge as the ledger does: with the row of its agent locked. */
const addCharge = (
  agentId: number,
  charge: NewCharge,
  of: (tx: SqlTransaction) => Promise<unknown> = async () => {},
) =>
  sql.begin(async (tx) => {
    await tx`select 1 from agent_funds where agent_id = ${agentId} for no key update`;
    await of(tx);
    await tx`
      insert into charges (agent_id, posting_id, target_url, target_host, method, status, cost_raw,
        usage, rail, session_id, customer_id, task_id, latency_ms, created_at)
      values (${agentId}, 'x', ${charge.url}, ${charge.host}, 'POST', ${charge.status},
        ${charge.costRaw.toString()}::bigint, '{}', ${charge.rail}, ${charge.session}, ${charge.customer},
        ${charge.task}, ${charge.latencyMs}, ${`${charge.at.day}T${charge.at.edge}Z`}::timestamptz)`;
  });

let nonces = 0;

/** An account of three agents whose rows and roll-ups a test plays. */
async function account() {
  const agentIds = (await seedAgents(sql, 3)).map(({ agentId }) => agentId);
  const payments: { readonly nonce: string; readonly charge: NewCharge }[] = [];
  await sql`insert into report_cursors (agent_id, charge_id)
    select id, 0 from unnest(${agentIds.map(String)}::integer[]) as a(id) on conflict do nothing`;
  const agentOf = ({ agent }: NewCharge) => agentIds[agent] ?? 0;
  return {
    agentIds,
    charge: (charge: NewCharge) => addCharge(agentOf(charge), charge),

    async pay(charge: NewCharge) {
      const nonce = `0x${(++nonces).toString(16)}`;
      payments.push({ nonce, charge });
      await sql`
        insert into reservations (nonce, hold_id, agent_id, wallet, payee, value_raw, valid_before, signature,
          x402_version, network, target_url, target_host, method, task_id, customer_id, state, reserved_at)
        values (${nonce}, ${nonce}, ${agentOf(charge)}, '0x1', '0x2', ${charge.costRaw.toString()}::bigint,
          1, '', 1, 'base', ${charge.url}, ${charge.host}, 'POST', ${charge.task}, ${charge.customer},
          'pending_settlement', ${`${charge.at.day}T${charge.at.edge}Z`}::timestamptz)`;
    },

    async settle() {
      const paid = payments.shift();
      if (paid === undefined) return;
      await addCharge(
        agentOf(paid.charge),
        paid.charge,
        (tx) => tx`
        update reservations set state = 'settled' where nonce = ${paid.nonce}`,
      );
    },

    upload: (charge: NewCharge) =>
      saveReconciled(sql, agentOf(charge), [
        {
          atMicros: Date.parse(`${charge.at.day}T${charge.at.edge.slice(0, 8)}Z`) * 1_000,
          kind: 'llm',
          modelOrTool: 'm',
          costRaw: charge.costRaw,
          promptTokens: null,
          completionTokens: null,
          label: null,
          digest: `${++nonces % 5}`,
        },
      ]),

    rollUp: (on: Sql | SqlTransaction) => rollUp(on, agentIds, ROWS),
  };
}

type Account = Awaited<ReturnType<typeof account>>;

/** A roll-up whose transaction never commits. */
async function abandon({ rollUp: roll }: Account): Promise<void> {
  const crash = new Error('the process is killed');
  await sql
    .begin(async (tx) => {
      await roll(tx);
      throw crash;
    })
    .catch((error: unknown) => {
      if (error !== crash) throw error;
    });
}

/** A roll-up whose connection ends before its commit, while another process rolls up, too. */
async function kill({ rollUp: roll }: Account): Promise<void> {
  const doomed = openSql(database.target, 1);
  const killed = doomed.begin(async (tx) => {
    await roll(tx);
    const [{ pid } = { pid: 0 }] = await tx<{ pid: number }[]>`select pg_backend_pid() as pid`;
    await roll(sql);
    await sql`select pg_terminate_backend(${pid})`;
    await tx`select 1`;
  });
  await expect(killed).rejects.toThrow();
  await doomed.end({ timeout: 0 });
}

async function play(world: Account, step: typeof Step extends fc.Arbitrary<infer T> ? T : never) {
  switch (step.kind) {
    case 'charge':
      return world.charge(step.charge);
    case 'pay':
      return world.pay(step.charge);
    case 'settled':
      return world.settle();
    case 'upload':
      return world.upload(step.charge);
    case 'roll up':
      return world.rollUp(sql);
    case 'abandon':
      return abandon(world);
    case 'kill':
      return kill(world);
    case 'race':
      return Promise.all([world.rollUp(sql), world.rollUp(sql), verify(world)]);
  }
}

const REQUEST = { url: 'gateway://acme/x', session: null } as const;

const groupOf = (row: ReportRow, group: SpendGroup): string => row[group];

/** Compares every grouping of every window with the sum of the rows, at one snapshot of the database. */
async function verify(
  { agentIds }: Account,
  windows: readonly (typeof WINDOWS)[number][] = WINDOWS,
) {
  await sql.begin('isolation level repeatable read', async (tx) => {
    const reports = createSpendReports({ sql: tx });
    const rows = await readRows(tx, agentIds);
    for (const window of windows) {
      const { since = '', until = '9' }: { since?: string; until?: string } = window;
      const inside = rows.filter(({ day }) => day >= since && day <= until);
      for (const groupBy of GROUPS) {
        const keys = [...new Set(inside.map((row) => groupOf(row, groupBy)))];
        const expected = new Map(
          keys.map((key) => [key, sumRows(inside.filter((row) => groupOf(row, groupBy) === key))]),
        );
        const { other, rows: told, total } = await reports.totals({ agentIds, groupBy, ...window });
        expect(new Map(told.map(({ key, ...sums }) => [key, sums]))).toEqual(expected);
        expect(total).toEqual(sumRows(inside));
        expect(other).toEqual(sumRows([]));
      }
      const measured = inside.filter(({ latencyMs }) => latencyMs !== null);
      expect((await reports.latency({ agentIds, ...window })).calls).toBe(measured.length);
    }
  });
}

/** Compares the two dearest customers and tasks of reports that remember earlier reads with the sum of the rows. */
async function verifyTop({ agentIds }: Account, reports: SpendReports) {
  const rows = await readRows(sql, agentIds);
  for (const groupBy of ['customer', 'task'] as const) {
    for (const since of [DAYS[0], DAYS[2]]) {
      const inside = rows.filter(({ day }) => day >= since);
      const keys = [...new Set(inside.map((row) => row[groupBy]))];
      const dearest = keys
        .map((key) => ({ key, ...sumRows(inside.filter((row) => row[groupBy] === key)) }))
        .sort((a, b) => Number(b.costRaw - a.costRaw) || (a.key < b.key ? -1 : 1))
        .slice(0, 2);
      const told = await reports.totals({ agentIds, groupBy, since, top: 2 });
      expect(told.rows).toEqual(dearest);
      expect(told.total).toEqual(sumRows(inside));
      const { calls, costRaw } = sumRows(inside);
      expect(told.other.calls).toBe(calls - dearest.reduce((sum, row) => sum + row.calls, 0));
      expect(told.other.costRaw).toBe(
        costRaw - dearest.reduce((sum, row) => sum + row.costRaw, 0n),
      );
    }
  }
}

describe('reports of spend', () => {
  it('remembered customers and tasks are the dearest ones after any charge, payment and upload', async () => {
    const many = fc.constantFrom(null, ...Array.from({ length: 14 }, (_, i) => `key ${i}`));
    const ManyCharges = fc.array(
      fc.record({
        kind: fc.constantFrom(...Array(12).fill('charge'), 'pay', 'settled', 'upload', 'roll up'),
        charge: fc
          .tuple(Charge, many, many, fc.bigInt({ min: 0n, max: 20n }))
          .map(([charge, customer, task, costRaw]) => ({ ...charge, customer, task, costRaw })),
      }),
      { minLength: 10, maxLength: 50 },
    );
    await fc.assert(
      fc.asyncProperty(ManyCharges, async (steps) => {
        const world = await account();
        const reports = createSpendReports({ sql });
        const [base] = fc.sample(Charge, { numRuns: 1, seed: 3 });
        // More groups than are remembered, so that one of the others may rise.
        for (let i = 0; i < 14; i++) {
          const key = `key ${i}`;
          const at = { day: DAYS[3], edge: '00:00:00' } as const;
          if (base !== undefined)
            await world.charge({
              ...base,
              at,
              customer: key as NewCharge['customer'],
              task: key as NewCharge['task'],
              costRaw: BigInt(10 + i),
            });
        }
        await verifyTop(world, reports);
        for (const [i, step] of steps.entries()) {
          await play(world, step as Parameters<typeof play>[1]);
          if (i % 3 === 0) await verifyTop(world, reports);
        }
        await verifyTop(world, reports);
      }),
      { numRuns: exhaustive ? 30 : 6, endOnFailure: true },
    );
  });

  it('every grouping and window is the sum of its rows, over killed, abandoned and racing roll-ups', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(Step, { minLength: 1, maxLength: 40 }), async (steps) => {
        const world = await account();
        for (const step of steps) await play(world, step);
        await verify(world);
        while ((await world.rollUp(sql)) > 0);
        await verify(world);
      }),
      { numRuns: exhaustive ? 40 : 8, endOnFailure: true },
    );
  });

  it('sums stay exact while charges are written and two processes roll up', async () => {
    const world = await account();
    const charges = fc.sample(Charge, { numRuns: 240, seed: 7 });
    let isOver = false;
    const writing = Promise.all(
      [0, 1, 2].map(async (mine) => {
        for (const charge of charges.slice(mine * 80, mine * 80 + 80)) await world.charge(charge);
      }),
    ).then(() => {
      isOver = true;
    });
    const rolling = [0, 1].map(async () => {
      while (!isOver) await world.rollUp(sql);
    });
    let looks = 0;
    while (!isOver) {
      await verify(world, [WINDOWS[looks++ % WINDOWS.length] ?? {}]);
    }
    await Promise.all([writing, ...rolling]);
    await verify(world);
    expect(looks).toBeGreaterThan(0);
  });

  it('a worker finds new agents, rolls all of them up and leaves nothing behind', async () => {
    const world = await account();
    await sql`delete from report_cursors where agent_id = any(${world.agentIds.map(String)}::integer[])`;
    for (const charge of fc.sample(Charge, { numRuns: 30, seed: 11 })) {
      await world.charge(charge);
      await world.upload(charge);
    }
    await Promise.all([rollUpReports({ sql }).tick(), rollUpReports({ sql }).tick()]);
    // Tests before this one have left agents with charges, too.
    const worker = rollUpReports({ sql });
    for (let ticks = 0; ticks < 10; ticks++) await worker.tick();
    const ids = world.agentIds.map(String);
    const [left] = await sql<{ behind: number; changes: number; totals: number }[]>`
      select (select count(*)::integer from charges c join report_cursors r on r.agent_id = c.agent_id
          where c.id > r.charge_id and c.agent_id = any(${ids}::integer[])) as behind,
        (select count(*)::integer from reconciled_changes
          where agent_id = any(${ids}::integer[])) as changes,
        (select count(*)::integer from report_totals
          where agent_id = any(${ids}::integer[])) as totals`;
    expect(left).toMatchObject({ behind: 0, changes: 0 });
    expect(left?.totals).toBeGreaterThan(0);
    await verify(world);
  });

  it('a report lists the dearest rows, and the rest as one sum', async () => {
    const world = await account();
    const { agentIds } = world;
    const [base] = fc.sample(Charge, { numRuns: 1, seed: 3 });
    for (const [customer, costRaw] of [
      ['a', 5n],
      ['b', 9n],
      ['ü"\'', 1n],
    ] as const) {
      if (base !== undefined) await world.charge({ ...base, customer, costRaw, agent: 0 });
    }
    const reports = createSpendReports({ sql });
    const top = await reports.totals({ agentIds, groupBy: 'customer', top: 1 });
    expect(top.rows.map(({ costRaw, key }) => [key, costRaw])).toEqual([['b', 9n]]);
    expect(top.other).toMatchObject({ calls: 2, costRaw: 6n });
    const only: SpendSource[] = ['guard'];
    expect((await reports.totals({ agentIds, groupBy: 'host', sources: only })).total.calls).toBe(
      0,
    );
    const series = await reports.series({ agentIds, since: '2026-11-25', until: '2026-11-30' });
    expect(series.map(({ key }) => key)).toEqual(['2026-11-25', ...DAYS, '2026-11-30']);
    expect(series.reduce((sum, { costRaw }) => sum + costRaw, 0n)).toBe(15n);
  });

  it('the histogram of the database puts each latency within 5 % of what it reports', async () => {
    const world = await account();
    const { agentIds } = world;
    const [base] = fc.sample(Charge, { numRuns: 1, seed: 3 });
    const reports = createSpendReports({ sql });
    const latencies = [0, 1, 2, 3, 9, 10, 11, 12, 13, 99, 100, 1_000, 65_537, 2_147_483_647];
    for (const [i, latencyMs] of latencies.entries()) {
      const day = `2025-01-${String(i + 1).padStart(2, '0')}` as (typeof DAYS)[0];
      if (base !== undefined)
        await world.charge({ ...base, ...REQUEST, latencyMs, at: { day, edge: '00:00:00' } });
      for (const isRolledUp of [false, true]) {
        if (isRolledUp) while ((await world.rollUp(sql)) > 0);
        const { calls, p50Ms } = await reports.latency({ agentIds, since: day, until: day });
        expect(calls).toBe(1);
        expect(Math.abs((p50Ms ?? -1) - latencyMs)).toBeLessThanOrEqual(latencyMs * 0.05);
      }
    }
  });
});
