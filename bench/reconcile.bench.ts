import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildReconciler } from '../src/app/build/payments/build-reconciler.ts';
import { CONFIG_LIMITS } from '../src/config/limits.ts';
import { sleep, systemClock } from '../src/kernel/clock.ts';
import { silentLog } from '../src/kernel/log.ts';
import { checkInvariants } from '../src/ledger/store/check-invariants.ts';
import type { Reconciled } from '../src/payments/reconcile/reconcile.ts';
import { createRpc } from '../src/platform/chain/rpc.ts';
import { createFetch } from '../src/platform/egress/fetch.ts';
import { openDatabase } from '../src/platform/postgres/database.ts';
import type { Sql } from '../src/platform/postgres/sql.ts';
import { startChain } from '../test/support/chain/chain.ts';
import { USDC } from '../test/support/chain/eip3009.ts';
import { openPayments, seedPayers } from '../test/support/chain/live-payments.ts';
import { type RpcProxy, startRpcProxy } from '../test/support/chain/rpc-proxy.ts';
import { liveLedger } from '../test/support/ledger-load.ts';
import { type BenchRow, benchRow } from './bench-row.ts';
import { databaseCpuOf } from './cpu.ts';

const PAYMENTS = 10_000;
const AGENTS = 1_000;
const FUNDS_RAW = 1_000n;
const VALID_SECONDS = 600;

/**
 * Ten thousand payments of a thousand agents that wait for the chain, half of them taken and half lapsed: how long one
 * tick of the reconciler takes to decide them all, and what it asks of the node and of the database.
 */
export async function benchReconcile(): Promise<BenchRow[]> {
  const directory = mkdtempSync(join(tmpdir(), 'bench-reconcile-'));
  const { fetch, close } = createFetch();
  try {
    await using chain = await startChain();
    await using node = await startRpcProxy(chain.url);
    await using database = await openDatabase({
      database: { kind: 'directory', path: join(directory, 'db') },
      log: silentLog,
    });
    await database.migrate();
    const { sql } = database;
    await using ledger = liveLedger(sql, 'bench');
    const view = { rpc: createRpc({ url: node.url, fetch }), usdc: USDC, confirmations: 0 };
    const world = { sql, clock: systemClock, log: silentLog };
    const payouts = { payAgain: async () => {} };
    const parts = { ledger, view, nodeId: 'bench', payouts, auditRestMs: 300_000 };
    const reconciler = buildReconciler(world, parts);
    // Reads the chain for the first time: from here on.
    await reconciler.tick();
    await openAll({ sql, ledger, chain });
    const databaseCpu = await databaseCpuOf(sql);
    node.forget();
    const began = { cpu: process.cpuUsage(), database: await databaseCpu(), sql: await count(sql) };
    const startedMs = performance.now();
    const done = await reconciler.tick();
    const seconds = (performance.now() - startedMs) / 1_000;
    const { user, system } = process.cpuUsage(began.cpu);
    const used = { here: user + system, database: (await databaseCpu()) - began.database };
    const statements = (await count(sql)) - began.sql;
    await checkAll(sql, done);
    return [...timesOf(seconds, used), ...askedOf(node, statements)];
  } finally {
    await close();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Every other payment is taken by its vendor, and the time of the others runs out. */
async function openAll(world: Parameters<typeof seedPayers>[0]): Promise<void> {
  const { ledger, chain } = world;
  const payers = await seedPayers(world, AGENTS, FUNDS_RAW);
  const validBefore = (await chain.head()).timestamp + VALID_SECONDS;
  const payments = await openPayments(ledger, payers, PAYMENTS, validBefore);
  await chain.submitMany(payments.filter((_, i) => i % 2 === 0));
  await chain.travel(VALID_SECONDS);
}

async function checkAll(sql: Sql, done: Reconciled | 'busy'): Promise<void> {
  if (done === 'busy' || done.settled !== PAYMENTS / 2 || done.released !== PAYMENTS / 2) {
    throw new Error('not everything was decided in one tick');
  }
  const [violation] = await checkInvariants(sql);
  if (violation !== undefined) throw new Error(`unsound: ${JSON.stringify(violation)}`);
}

/** How many sql transactions there have been; the statistics are a second behind. */
async function count(sql: Sql): Promise<number> {
  await sql`select pg_stat_force_next_flush()`;
  await sleep(systemClock, 1_500);
  const [row] = await sql<{ count: bigint }[]>`
    select xact_commit + xact_rollback as count from pg_stat_database
    where datname = current_database()`;
  return Number(row?.count ?? 0);
}

const row = (what: string, value: number, unit: string, note?: string): BenchRow =>
  benchRow('tick', what, value, unit, note);

function timesOf(
  seconds: number,
  used: { readonly here: number; readonly database: number },
): BenchRow[] {
  const { reconcileSeconds } = CONFIG_LIMITS.chain;
  const verdict = seconds <= reconcileSeconds ? 'held' : 'MISSED';
  return [
    row(`${PAYMENTS} payments decided`, seconds, 's', `bar <= ${reconcileSeconds} s: ${verdict}`),
    row('CPU of this process', used.here / PAYMENTS, 'µs/payment'),
    row('CPU of the database', used.database / PAYMENTS, 'µs/payment'),
  ];
}

function askedOf({ calls }: RpcProxy, statements: number): BenchRow[] {
  const methods = new Map<string, number>();
  for (const { method } of calls) methods.set(method, (methods.get(method) ?? 0) + 1);
  return [
    row('sql transactions', statements, 'in all'),
    ...[...methods].map(([method, asked]) => row(method, asked, 'questions')),
  ];
}
