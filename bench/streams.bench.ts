import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Pool } from 'undici';
import { loadUws } from '../src/http/uws.ts';
import { silentLog } from '../src/kernel/log.ts';
import { openDatabase } from '../src/store/database.ts';
import type { Sql } from '../src/store/sql.ts';
import { AGENT_KEY, gatewayWorld } from '../test/support/gateway-world.ts';
import { liveLedger } from '../test/support/ledger-load.ts';
import { seedAgent } from '../test/support/ledger-world.ts';
import { nextMessage } from '../test/support/next-message.ts';
import { type BenchRow, benchRow } from './bench-row.ts';
import type { Streamed, StreamOrder } from './streams-peer.ts';

const ROUNDS = 6;
const ALONE = 20;
const TOGETHER = 256;
const WARM_UP = { readers: 32, streams: 400, events: 2 };
/** A second of them. */
const EVENTS = 50;
const UNLIMITED = { gatewayPerMinute: 1e9, globalPerMinute: 1e9, ipPerMinute: 1e9 };

/**
 * P3: what a metered stream adds to the time to its first token over a bare relay of the same libraries in the same run,
 * for one reader, on a durable ledger; and how many of the events of 256 streams side by side are read.
 */
export async function benchStreams(): Promise<BenchRow[]> {
  const directory = mkdtempSync(join(tmpdir(), 'bench-streams-'));
  const peer = fork(new URL('./streams-peer.ts', import.meta.url), {
    execArgv: ['--import', 'tsx'],
  });
  try {
    const { upstreamPort } = await nextMessage<{ upstreamPort: number }>(peer);
    await using database = await openDatabase({
      ...{ database: { kind: 'directory', path: join(directory, 'db') }, log: silentLog },
      connections: 4,
    });
    await database.migrate();
    const { sql } = database;
    const { agentId, keyId } = await seedAgent(sql);
    await using ledger = liveLedger(sql, 'bench');
    await ledger.credit({ agentId, amountRaw: 10n ** 12n, reference: 'streams bench' });
    const source = { rail: 'self-host', provider: 'peer', upstreamModel: 'bench' } as const;
    const rates = { text_input_token: '2.5', text_output_token: '10' };
    await using gateway = await gatewayWorld({
      ...{ ledger, agentId, keyId, rateLimits: UNLIMITED },
      providers: { peer: { baseUrl: `http://127.0.0.1:${upstreamPort}/v1`, dialect: 'openai' } },
      models: [{ id: 'bench/model', modality: 'text', sources: [{ ...source, rates }] }],
    });
    await using relay = await openRelay(upstreamPort);
    const port = Number(new URL(gateway.baseUrl).port);
    return rowsOf(await measure(peer, sql, { relay: relay.port, metered: port }));
  } finally {
    peer.disconnect();
    rmSync(directory, { recursive: true, force: true });
  }
}

type Ports = { readonly relay: number; readonly metered: number };
type Measured = {
  readonly commitMs: readonly number[];
  readonly relayMs: readonly number[];
  readonly meteredMs: readonly number[];
  readonly together: Streamed;
  readonly cpuMicros: number;
};

async function measure(peer: ChildProcess, sql: Sql, ports: Ports): Promise<Measured> {
  const took = { commitMs: [] as number[], relayMs: [] as number[], meteredMs: [] as number[] };
  await read(peer, { port: ports.metered, ...WARM_UP });
  await read(peer, { port: ports.relay, ...WARM_UP });
  await sql`create table if not exists bench_commits (round integer, value integer)`;
  // By turns, because a neighbour's load comes and goes.
  for (let round = 0; round < ROUNDS; round++) {
    for (let i = 0; i < ALONE; i++) {
      const startedMs = performance.now();
      await sql`insert into bench_commits values (${round}, ${i})`;
      took.commitMs.push(performance.now() - startedMs);
    }
    const alone = { readers: 1, streams: ALONE, events: 2 };
    took.relayMs.push(...(await read(peer, { ...alone, port: ports.relay })).firstMs);
    took.meteredMs.push(...(await read(peer, { ...alone, port: ports.metered })).firstMs);
  }
  const before = process.cpuUsage();
  const all = { readers: TOGETHER, streams: 4 * TOGETHER, events: EVENTS };
  const together = await read(peer, { ...all, port: ports.metered });
  const { user, system } = process.cpuUsage(before);
  return { ...took, together, cpuMicros: (user + system) / together.events };
}

async function read(peer: ChildProcess, order: Omit<StreamOrder, 'key'>): Promise<Streamed> {
  peer.send({ ...order, key: AGENT_KEY });
  const answer = await nextMessage<Streamed | { failed: string }>(peer);
  if ('failed' in answer) throw new Error(`the readers failed: ${answer.failed}`);
  return answer;
}

/** uWebSockets.js in, undici out, each chunk written as it comes. */
async function openRelay(upstreamPort: number): Promise<AsyncDisposable & { port: number }> {
  const uws = await loadUws();
  const pool = new Pool(`http://127.0.0.1:${upstreamPort}`, { connections: 512 });
  const target = { path: '/v1/chat/completions', method: 'POST' } as const;
  const app = uws.App().post('/v1/chat/completions', (response) => {
    response.onAborted(() => {});
    response.onData((chunk) => {
      const body = Buffer.from(Buffer.from(chunk));
      const headers = { 'content-type': 'application/json' };
      pool.dispatch(
        { ...target, headers, body },
        {
          onRequestStart() {},
          onResponseStart() {
            response.cork(() => response.writeHeader('content-type', 'text/event-stream'));
          },
          onResponseData: (_controller, data) => void response.cork(() => response.write(data)),
          onResponseEnd: () => void response.cork(() => response.end()),
          onResponseError: () => void response.close(),
        },
      );
    });
  });
  const port = await new Promise<number>((resolve) => {
    app.listen('127.0.0.1', 0, (socket) => resolve(uws.us_socket_local_port(socket as never)));
  });
  return {
    port,
    async [Symbol.asyncDispose]() {
      app.close();
      await pool.destroy();
    },
  };
}

const at = (values: readonly number[], share: number): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length * share)] ?? 0;

function rowsOf({ commitMs, relayMs, meteredMs, together, cpuMicros }: Measured): BenchRow[] {
  const row = (what: string, value: number, unit: string, note?: string): BenchRow =>
    benchRow('P3', what, value, unit, note);
  const verdict = (holds: boolean) => (holds ? 'held' : 'MISSED');
  const added = (share: number) => at(meteredMs, share) - at(relayMs, share);
  const bar = { p50: at(commitMs, 0.5) + 0.3, p99: at(commitMs, 0.99) + 2 };
  const dropped = 4 * TOGETHER * EVENTS - together.events + together.broken;
  return [
    row('a commit of one row, p50', at(commitMs, 0.5), 'ms'),
    row('bare relay, first token, p50', at(relayMs, 0.5), 'ms'),
    row(
      'metered, first token, added p50',
      added(0.5),
      'ms',
      `bar <= commit + 0.3 ms: ${verdict(added(0.5) <= bar.p50)}`,
    ),
    row(
      'metered, first token, added p99',
      added(0.99),
      'ms',
      `bar <= commit p99 + 2 ms: ${verdict(added(0.99) <= bar.p99)}`,
    ),
    row(
      `${TOGETHER} streams of ${EVENTS} events a second, not read`,
      dropped,
      'events',
      `bar 0: ${verdict(dropped === 0)}`,
    ),
    row(`${TOGETHER} streams, first token, p50`, at(together.firstMs, 0.5), 'ms'),
    row(`${TOGETHER} streams, CPU of this process`, cpuMicros, 'µs/event'),
  ];
}
