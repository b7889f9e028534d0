import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ChargeRow } from '../src/ledger/rules/companion.ts';
import { BY_KEY, openSql, type Sql } from '../src/platform/postgres/sql.ts';
import { liveLedger, type Spendable } from '../test/support/ledger-load.ts';
import { seedAgent } from '../test/support/ledger-world.ts';
import { type BenchRow, benchRow, verdict } from './bench-row.ts';
import { openBenchDatabase } from './gateways.ts';
import { at } from './quantile.ts';

/** By turns, because a neighbour's load comes and goes; the first round compiles the code and is left out. */
const ROUNDS = 10;
const OPERATIONS = 200;
const BARS = { hold: 1.8, settlement: 2.1 };

type Took = Record<'roundTrip' | 'commit' | 'hold' | 'settlement', number[]>;

/**
 * P2, the ledger's share: how long one caller waits for the hold and for the settlement of a chat, beside a round trip and a
 * commit of one row on the same server, in the same run.
 */
export async function benchLone(): Promise<BenchRow[]> {
  const directory = mkdtempSync(join(tmpdir(), 'bench-lone-'));
  try {
    await using database = await openBenchDatabase(join(directory, 'db'));
    const agent = await seedAgent(database.sql);
    const sql = openSql(database.target, 6, BY_KEY);
    try {
      return rowsOf(await measure(sql, agent));
    } finally {
      await sql.end();
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function measure(sql: Sql, agent: Spendable): Promise<Took> {
  await using ledger = liveLedger(sql, 'lone bench');
  await ledger.credit({ agentId: agent.agentId, amountRaw: 10n ** 12n, reference: 'lone bench' });
  await sql`create table if not exists bench_commits (value integer)`;
  let took = nothingTook();
  for (let round = 0; round <= ROUNDS; round++) {
    if (round === 1) took = nothingTook();
    for (let i = 0; i < OPERATIONS; i++) {
      await timed(took.roundTrip, async () => await sql`select 1`);
      await timed(took.commit, async () => await sql`insert into bench_commits values (${i})`);
      const asked = {
        spender: agent,
        holdId: `lone-${round}-${i}`,
        amountRaw: 1_000n,
        destination: { host: 'bench', payee: null },
      };
      const held = await timed(took.hold, () => ledger.hold(asked));
      if (held.kind !== 'held') throw new Error(`refused: ${held.refusal.reason}`);
      const charges = (costRaw: bigint) => [chargeOf(agent, costRaw)];
      const { hold } = held;
      const end = { hold, actualRaw: 500n, account: 'gateway', source: 'bench', charges } as const;
      await timed(took.settlement, () => ledger.settle(end));
    }
  }
  return took;
}

const nothingTook = (): Took => ({ roundTrip: [], commit: [], hold: [], settlement: [] });

async function timed<T>(into: number[], work: () => Promise<T>): Promise<T> {
  const startedMs = performance.now();
  const result = await work();
  into.push(performance.now() - startedMs);
  return result;
}

const chargeOf = ({ agentId, keyId }: Spendable, costRaw: bigint): ChargeRow => ({
  agentId,
  keyId,
  targetUrl: 'gateway://peer/bench',
  targetHost: 'bench',
  method: 'POST',
  status: 'success',
  costRaw,
  model: 'bench/model',
  rail: 'self-host',
  usage: { text_input_token: 64, text_output_token: 140 },
  taskId: null,
  actionId: null,
  customerId: null,
  sessionId: null,
  payee: null,
  responseStatusCode: 200,
  latencyMs: 12,
  overheadMs: 1,
  upstreamMs: 11,
});

function rowsOf({ roundTrip, commit, hold, settlement }: Took): BenchRow[] {
  const row = (what: string, value: number, unit: string, note?: string): BenchRow =>
    benchRow('P2', what, value, unit, note);
  const commitMs = at(commit, 0.5);
  const times = (what: keyof typeof BARS, took: readonly number[]) => {
    const ratio = at(took, 0.5) / commitMs;
    return row(
      `${what} of a chat ÷ one-row commit`,
      ratio,
      '×',
      `bar <= ${BARS[what]}: ${verdict(ratio <= BARS[what])}`,
    );
  };
  return [
    row('a bare round trip, p50', at(roundTrip, 0.5), 'ms'),
    row('a commit of one row, p50', commitMs, 'ms'),
    row('hold of a chat, one caller, p50', at(hold, 0.5), 'ms'),
    row('settlement of a chat, one caller, p50', at(settlement, 0.5), 'ms'),
    times('hold', hold),
    times('settlement', settlement),
  ];
}
