import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog } from '../src/kernel/log.ts';
import { checkInvariants } from '../src/ledger/store/check-invariants.ts';
import { openDatabase } from '../src/platform/postgres/database.ts';
import { type DatabaseTarget, openSql, type Sql } from '../src/platform/postgres/sql.ts';
import {
  type LoadResult,
  liveLedger,
  loadLedger,
  type Spendable,
} from '../test/support/ledger-load.ts';
import { ledgerProcess } from '../test/support/ledger-process.ts';
import { seedAgents } from '../test/support/ledger-world.ts';
import { type BenchRow, benchRow } from './bench-row.ts';
import { capAgents } from './cap-agents.ts';
import { createFloor, loadFloor } from './ledger-floor.ts';

const CALLERS = 64;
const AGENTS = 100;
const CREDIT_RAW = 1_000_000_000n;
/** As many as the server's own pool has; the ledger needs two of them. */
const FLOOR_CONNECTIONS = 10;

export type LedgerBenchOptions = {
  readonly rounds?: number;
  readonly forMs?: number;
};

type Figure = { readonly operations: number; readonly seconds: number; readonly cpuMicros: number };
type Round = { readonly ledger: Figure; readonly floor: Figure };

const rate = (figure: Figure): number => figure.operations / figure.seconds;

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

/**
 * P5: durable operations a second with 64 callers on one agent and on a hundred, over a floor of one
 * statement an operation in the same run, by turns; and two processes on one agent against one.
 * Uses the server at BENCH_DATABASE_URL, or an embedded one of its own with its usual durability.
 */
export async function benchLedger(options: LedgerBenchOptions = {}): Promise<BenchRow[]> {
  const { rounds = 3, forMs = 3_000 } = options;
  const directory = mkdtempSync(join(tmpdir(), 'bench-ledger-'));
  const url = process.env.BENCH_DATABASE_URL;
  const place: DatabaseTarget | { kind: 'directory'; path: string } =
    url === undefined ? { kind: 'directory', path: join(directory, 'db') } : { kind: 'url', url };
  try {
    await using database = await openDatabase({ database: place, log: silentLog, connections: 4 });
    await database.migrate();
    const { target, sql } = database;
    const bare = await measure(target, sql, { rounds, forMs, capped: false });
    return [...bare, ...(await measure(target, sql, { rounds, forMs, capped: true }))];
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function measure(
  target: DatabaseTarget,
  sql: Sql,
  { rounds, forMs, capped }: { rounds: number; forMs: number; capped: boolean },
): Promise<BenchRow[]> {
  const name = capped ? 'capped' : 'bare';
  await using ledger = liveLedger(sql, `bench ${name}`);
  const agents = await seedAgents(sql, AGENTS);
  if (capped) await capAgents(sql, agents);
  for (const { agentId } of agents) {
    await ledger.credit({ agentId, amountRaw: CREDIT_RAW, reference: `bench ${agentId}` });
  }
  const floorSql = openSql(target, FLOOR_CONNECTIONS);
  const floor = createFloor(floorSql, capped);
  const hot = agents.slice(0, 1);
  const sets = { hot, spread: agents } as const;
  const found: Record<keyof typeof sets, Round[]> = { hot: [], spread: [] };
  const shared = { callers: CALLERS, forMs };
  // What runs first in a process is compiled while it is measured.
  await loadLedger(ledger, agents, { ...shared, forMs: 2 * forMs, prefix: `warm-${name}` });
  await loadLedger(ledger, hot, { ...shared, prefix: `warm-hot-${name}` });
  await loadFloor(floor, agents, { ...shared, forMs: forMs / 3, prefix: `warm-floor-${name}` });
  for (let round = 0; round < rounds; round++) {
    for (const set of ['hot', 'spread'] as const) {
      const prefix = `${name}-${round}-${set}`;
      const options = { ...shared, prefix: `l${prefix}` };
      const ours = () => loadLedger(ledger, sets[set], options);
      const theirs = () => loadFloor(floor, sets[set], { ...shared, prefix: `f${prefix}` });
      // By turns, because a neighbour's load comes and goes.
      const first = round % 2 === 0 ? await ours() : undefined;
      const under = await theirs();
      // The floor writes behind the ledger's back: the actors must read again.
      found[set].push({ ledger: first ?? (await ours()), floor: under });
    }
  }
  await floorSql.end();
  const pair = await comparePair(target, hot, rounds, forMs, name);
  const violations = await checkInvariants(sql);
  if (violations.length > 0) throw new Error(`unsound: ${JSON.stringify(violations[0])}`);
  const rows = [
    ...rowsOf('one hot agent', found.hot, 15),
    ...rowsOf('100 agents', found.spread, 3),
    ...pair,
  ];
  return capped ? rows.map((one) => ({ ...one, what: `10 policies: ${one.what}` })) : rows;
}

function rowsOf(what: string, rounds: readonly Round[], bar: number): BenchRow[] {
  const ratio = median(rounds.map(({ ledger, floor }) => rate(ledger) / rate(floor)));
  const cpu = median(rounds.map(({ ledger }) => ledger.cpuMicros));
  return [
    row(`${what}, ledger`, median(rounds.map(({ ledger }) => rate(ledger))), 'ops/s'),
    row(`${what}, floor`, median(rounds.map(({ floor }) => rate(floor))), 'ops/s'),
    row(`${what}, ledger over floor`, ratio, 'x', `bar >= ${bar}: ${verdict(ratio >= bar)}`),
    row(`${what}, CPU of this process`, cpu, 'µs/op', `bar <= 15: ${verdict(cpu <= 15)}`),
    row(`${what}, CPU of the floor`, median(rounds.map(({ floor }) => floor.cpuMicros)), 'µs/op'),
  ];
}

/** One process alone on a hot agent, then two at once, by turns. */
async function comparePair(
  target: DatabaseTarget,
  hot: readonly Spendable[],
  rounds: number,
  forMs: number,
  name: string,
): Promise<BenchRow[]> {
  await using a = await ledgerProcess(target, `a ${name}`);
  await using b = await ledgerProcess(target, `b ${name}`);
  const load = async (process: typeof a, prefix: string): Promise<LoadResult> => {
    const task = { kind: 'load', agents: hot, callers: CALLERS, forMs, prefix } as const;
    const answer = await process.run(task);
    if (answer.kind !== 'loaded') throw new Error(`unexpected answer ${answer.kind}`);
    return answer;
  };
  await Promise.all([load(a, `warm-a-${name}`), load(b, `warm-b-${name}`)]);
  const found: { alone: LoadResult; both: LoadResult[] }[] = [];
  for (let round = 0; round < rounds; round++) {
    const alone = await load(a, `alone-${name}-${round}`);
    const both = await Promise.all([load(a, `a-${name}-${round}`), load(b, `b-${name}-${round}`)]);
    found.push({ alone, both });
  }
  const share = median(
    found.map(({ alone, both }) => both.reduce((sum, one) => sum + rate(one), 0) / rate(alone)),
  );
  const slower = median(
    found.map(({ alone, both }) => Math.max(...both.map((one) => one.p99Ms)) / alone.p99Ms),
  );
  const most = Math.max(...found.flatMap(({ both }) => both.map((one) => one.mostMisses)));
  return [
    row('one hot agent, one process alone', median(found.map((f) => rate(f.alone))), 'ops/s'),
    row('two processes together over one', share, 'x', `bar >= 0.33: ${verdict(share >= 1 / 3)}`),
    row('two processes, p99 over one', slower, 'x', `bar <= 5: ${verdict(slower <= 5)}`),
    row('two processes, misses of one operation', most, 'most', `bar <= 3: ${verdict(most <= 3)}`),
  ];
}

const verdict = (holds: boolean): string => (holds ? 'held' : 'MISSED');

const row = (what: string, value: number, unit: string, note?: string): BenchRow =>
  benchRow('P5', what, value, unit, note);
