import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLocalWallets } from '../src/accounts/wallets/local-wallets.ts';
import { createApi } from '../src/app/commands/demo/api.ts';
import { completeSettings, type Settings } from '../src/app/local-secrets.ts';
import { type Server, startServer } from '../src/app/server.ts';
import { readConfig } from '../src/config/config.ts';
import { CONFIG_LIMITS } from '../src/config/limits.ts';
import { systemClock } from '../src/kernel/clock.ts';
import { silentLog } from '../src/kernel/log.ts';
import { randomHex, systemRandom } from '../src/kernel/random.ts';
import { openSql, type Sql } from '../src/platform/postgres/sql.ts';
import { usdcDomain } from '../src/x402/authorization.ts';
import { startChain } from '../test/support/chain/chain.ts';
import { nextMessage } from '../test/support/next-message.ts';
import { fundPayer, payingEnvironment } from '../test/support/payment-world.ts';
import { newDeveloper } from '../test/support/whole-world.ts';
import { type BenchRow, benchRow } from './bench-row.ts';
import { databaseCpuOf } from './cpu.ts';
import type { Called, PeerOrder, PeerRequest, Stand } from './payments-peer.ts';

/** By turns, because a neighbour's load comes and goes. */
const ROUNDS = 20;
const CALLS_PER_ROUND = 50;
const WARM_UP = { times: 3_000, callers: 8 };
const SIGNATURES = 2_000;
const PRICE_RAW = 100;
const FUNDS_RAW = 10_000_000n;

/**
 * P6: what a paid proxy call takes beyond the vendor's two answers, for one caller, over the commits of the same run:
 * the whole server in this process, the vendor and the caller in one each. Payments pile up undecided, as they do
 * between two blocks; the reconciler looks at them at its usual interval.
 */
export async function benchPayments(): Promise<BenchRow[]> {
  const directory = mkdtempSync(join(tmpdir(), 'bench-payments-'));
  await using chain = await startChain();
  await using vendor = startPeer();
  await using caller = startPeer();
  try {
    const config = readConfig({ DATABASE_URL: join(directory, 'db'), ...environment(chain.url) });
    const { settings } = completeSettings(config, systemRandom);
    const key = await fund(settings, chain);
    const stand = await vendor.ask<Stand>({ kind: 'sell', priceRaw: PRICE_RAW });
    const { reconcileSeconds } = CONFIG_LIMITS.chain;
    const usual = { ...settings, chain: { ...settings.chain, reconcileSeconds } };
    await using server = await start(usual);
    const call = (url: string): PeerRequest => ({
      url: `${server.url}/v1/proxy/fetch`,
      method: 'POST',
      status: 200,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ url }),
    });
    // What runs first in a process, and on a connection, is compiled while it is measured.
    await caller.ask({ kind: 'call', requests: [call(stand.paidUrl)], ...WARM_UP });
    const payment = await vendor.ask<Record<string, string>>({ kind: 'payment' });
    const kinds: Kinds = {
      paidDirect: [
        { url: stand.paidUrl, method: 'GET', status: 402 },
        { url: stand.paidUrl, method: 'GET', status: 200, headers: payment },
      ],
      paid: [call(stand.paidUrl)],
      freeDirect: [{ url: stand.freeUrl, method: 'GET', status: 200 }],
      free: [call(stand.freeUrl)],
    };
    const signMicros = await timeSigner(server.database.sql, settings);
    return rowsOf(await measure(server, caller, kinds), signMicros);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

type Kinds = Readonly<
  Record<'paidDirect' | 'paid' | 'freeDirect' | 'free', readonly PeerRequest[]>
>;

const environment = (rpcUrl: string): Record<string, string> => ({
  ...payingEnvironment(rpcUrl),
  // The limit still counts; it is only out of reach.
  RC12_RATE_LIMIT_PER_MINUTE: '1000000',
});

const start = (settings: Settings): Promise<Server> =>
  startServer({
    settings,
    port: 0,
    log: silentLog,
    clock: systemClock,
    random: systemRandom,
    secret: () => undefined,
  });

/** A key of an agent whose deposit has been credited, by a server that looks for deposits all the time. */
async function fund(
  settings: Settings,
  chain: Awaited<ReturnType<typeof startChain>>,
): Promise<string> {
  await using server = await start(settings);
  const { url, database } = server;
  const developer = await newDeveloper(createApi(url), 'bench');
  const place = { chain, developer, url, sql: database.sql };
  return (await fundPayer(place, 'bench', FUNDS_RAW)).key;
}

type Peer = AsyncDisposable & { ask<T>(order: PeerOrder): Promise<T> };

function startPeer(): Peer {
  const child: ChildProcess = fork(new URL('./payments-peer.ts', import.meta.url), {
    execArgv: ['--import', 'tsx'],
  });
  return {
    async ask<T>(order: PeerOrder) {
      child.send(order);
      const answer = await nextMessage<T | { failed: string }>(child);
      if (typeof answer === 'object' && answer !== null && 'failed' in answer) {
        throw new Error(`a side of the bench failed: ${answer.failed}`);
      }
      return answer as T;
    },
    async [Symbol.asyncDispose]() {
      if (child.connected) child.disconnect();
    },
  };
}

type Measured = Readonly<Record<keyof Kinds | 'commit', readonly number[]>> & {
  /** Of one paid call. */
  readonly cpuMicros: number;
  readonly databaseMicros: number;
};

async function measure(server: Server, caller: Peer, kinds: Kinds): Promise<Measured> {
  const { sql, target } = server.database;
  const took = { commit: [], paidDirect: [], paid: [], freeDirect: [], free: [] } as Record<
    keyof Kinds | 'commit',
    number[]
  >;
  const databaseCpu = await databaseCpuOf(sql);
  const one = openSql(target, 1);
  await one`create table if not exists bench_commits (round integer, value integer)`;
  const cpu = { here: 0, database: 0 };
  for (let round = 0; round < ROUNDS; round++) {
    took.commit.push(...(await timeCommits(one, round)));
    for (const kind of ['paidDirect', 'paid', 'freeDirect', 'free'] as const) {
      const order = { kind: 'call', requests: kinds[kind], times: CALLS_PER_ROUND } as const;
      const before = { here: process.cpuUsage(), database: await databaseCpu() };
      const { tookMs } = await caller.ask<Called>(order);
      took[kind].push(...tookMs);
      if (kind !== 'paid') continue;
      const { user, system } = process.cpuUsage(before.here);
      cpu.here += user + system;
      cpu.database += (await databaseCpu()) - before.database;
    }
  }
  await one.end();
  const calls = ROUNDS * CALLS_PER_ROUND;
  return { ...took, cpuMicros: cpu.here / calls, databaseMicros: cpu.database / calls };
}

async function timeCommits(sql: Sql, round: number): Promise<number[]> {
  const tookMs: number[] = [];
  for (let i = 0; i < CALLS_PER_ROUND; i++) {
    const startedMs = performance.now();
    await sql`insert into bench_commits values (${round}, ${i})`;
    tookMs.push(performance.now() - startedMs);
  }
  return tookMs;
}

/** Microseconds of one signature by a wallet that this server holds. */
async function timeSigner(sql: Sql, { managedWallet, chain }: Settings): Promise<number> {
  const { authorizationPrivateKey: authorizationKey = '', appSecret = '' } = managedWallet;
  const wallets = createLocalWallets({ sql, random: systemRandom, authorizationKey, appSecret });
  const from = await wallets.provide('bench');
  const domain = usdcDomain(chain.usdc);
  const sign = async (times: number) => {
    const startedMs = performance.now();
    for (let i = 0; i < times; i++) {
      const nonce = `0x${randomHex(systemRandom, 32)}`;
      const sent = { from, to: from, valueRaw: 100n, validAfter: 0, validBefore: 2 ** 31 } as const;
      await wallets.signTransfer('bench', domain, { ...sent, nonce });
    }
    return ((performance.now() - startedMs) * 1_000) / times;
  };
  await sign(SIGNATURES / 4);
  return sign(SIGNATURES);
}

const at = (values: readonly number[], share: number): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length * share)] ?? 0;

function rowsOf(took: Measured, signMicros: number): BenchRow[] {
  const row = (what: string, value: number, unit: string, note?: string): BenchRow =>
    benchRow('P6', what, value, unit, note);
  const p50 = (kind: keyof Kinds | 'commit') => at(took[kind], 0.5);
  const barMs = 3 * p50('commit') + 1;
  const addedMs = p50('paid') - p50('paidDirect');
  return [
    row('a commit of one row, p50', p50('commit'), 'ms'),
    row('a commit of one row, p99', at(took.commit, 0.99), 'ms'),
    row('both answers asked directly, p50', p50('paidDirect'), 'ms'),
    row('paid call, p50', p50('paid'), 'ms'),
    row('paid call, p99', at(took.paid, 0.99), 'ms'),
    row(
      'paid call, added p50',
      addedMs,
      'ms',
      `bar <= 3 commits + 1 ms: ${verdict(addedMs <= barMs)}`,
    ),
    row('3 commits + 1 ms', barMs, 'ms'),
    row('paid call, CPU of this process', took.cpuMicros, 'µs'),
    row('paid call, CPU of the database', took.databaseMicros, 'µs'),
    row('one signature', signMicros, 'µs'),
    row('free answer asked directly, p50', p50('freeDirect'), 'ms'),
    row('free call, added p50', p50('free') - p50('freeDirect'), 'ms'),
  ];
}

const verdict = (holds: boolean): string => (holds ? 'held' : 'MISSED');
