import { type ChildProcess, fork } from 'node:child_process';
import { setMaxListeners } from 'node:events';
import { Pool } from 'undici';
import { loadUws } from '../src/http/uws.ts';
import { systemClock } from '../src/kernel/clock.ts';
import { LIMITS } from '../src/kernel/limits.ts';
import type { Ledger } from '../src/ledger/ledger.ts';
import { collectAnswer } from '../src/rails/collect-answer.ts';
import { createFakeLedger } from '../test/support/fake-ledger.ts';
import { AGENT_KEY, gatewayWorld } from '../test/support/gateway-world.ts';
import { nextMessage } from '../test/support/next-message.ts';
import { type BenchRow, benchRow } from './bench-row.ts';
import type { Load, LoadOrder } from './gateway-peer.ts';

const AGENT = 1;
const REQUESTS = 12_000;
const CALLERS = 32;

export type BenchOptions = {
  /** A durable one, with the agent and key that it knows; in memory without. */
  readonly ledger?: Ledger;
  readonly agentId?: number;
  readonly keyId?: number;
  /** What the database's processes have used so far, in microseconds of CPU. */
  readonly databaseCpu?: () => Promise<number>;
};

export type Measured = Load & { readonly cpuMicros: number; readonly databaseMicros: number };

/**
 * CPU of this process for one metered chat completion (edge, credential, rate limits, hold, upstream,
 * settle, receipt) against a bare relay over the same libraries in the same run. Without a ledger it
 * is kept in memory, which leaves the database out.
 */
export async function benchGateway(options: BenchOptions = {}): Promise<BenchRow[]> {
  const peer = fork(new URL('./gateway-peer.ts', import.meta.url), {
    execArgv: ['--import', 'tsx'],
  });
  try {
    const { upstreamPort } = await nextMessage<{ upstreamPort: number }>(peer);
    const relay = await benchRelay(peer, upstreamPort);
    const metered = await benchMetered(peer, upstreamPort, options);
    const note = options.ledger === undefined ? 'ledger in memory' : 'durable ledger';
    const row = (what: string, value: number, unit: string): BenchRow =>
      benchRow('P1', what, value, unit, note);
    return [
      row('bare relay, CPU a request', relay.cpuMicros, 'µs'),
      row('metered chat, CPU a request', metered.cpuMicros, 'µs'),
      row('metered ÷ bare relay', metered.cpuMicros / relay.cpuMicros, '×'),
      row(`metered chat, ${CALLERS} callers`, metered.perSecond, 'requests/s'),
      row(`bare relay, ${CALLERS} callers, p50`, relay.p50Ms, 'ms'),
      row(`metered chat, ${CALLERS} callers, p50`, metered.p50Ms, 'ms'),
      row(`metered chat, ${CALLERS} callers, p99`, metered.p99Ms, 'ms'),
    ];
  } finally {
    peer.disconnect();
  }
}

async function measure(
  peer: ChildProcess,
  port: number,
  databaseCpu = async () => 0,
): Promise<Measured> {
  await load(peer, port, REQUESTS / 4);
  const theirs = await databaseCpu();
  const before = process.cpuUsage();
  const result = await load(peer, port, REQUESTS);
  const { user, system } = process.cpuUsage(before);
  const databaseMicros = ((await databaseCpu()) - theirs) / REQUESTS;
  return { ...result, cpuMicros: (user + system) / REQUESTS, databaseMicros };
}

/** Metered chat alone, with the upstream and the callers in a process of their own. */
export async function measureMetered(options: BenchOptions): Promise<Measured> {
  const peer = fork(new URL('./gateway-peer.ts', import.meta.url), {
    execArgv: ['--import', 'tsx'],
  });
  try {
    const { upstreamPort } = await nextMessage<{ upstreamPort: number }>(peer);
    return await benchMetered(peer, upstreamPort, options);
  } finally {
    peer.disconnect();
  }
}

async function load(peer: ChildProcess, port: number, requests: number): Promise<Load> {
  const order: LoadOrder = { port, requests, callers: CALLERS, key: AGENT_KEY };
  peer.send(order);
  const answer = await nextMessage<Load | { failed: string }>(peer);
  if ('failed' in answer) throw new Error(`the load failed: ${answer.failed}`);
  return answer;
}

async function benchMetered(
  peer: ChildProcess,
  upstreamPort: number,
  options: BenchOptions,
): Promise<Measured> {
  const { agentId = AGENT, keyId = 1 } = options;
  const ledger = options.ledger ?? createFakeLedger();
  await ledger.credit({ agentId, amountRaw: 10n ** 12n, reference: `chat bench ${agentId}` });
  const source = { rail: 'self-host', provider: 'peer', upstreamModel: 'bench' } as const;
  const rates = { text_input_token: '2.5', text_output_token: '10' };
  await using gateway = await gatewayWorld({
    ledger,
    agentId,
    keyId,
    rateLimits: UNLIMITED,
    providers: { peer: { baseUrl: `http://127.0.0.1:${upstreamPort}/v1`, dialect: 'openai' } },
    models: [{ id: 'bench/model', modality: 'text', sources: [{ ...source, rates }] }],
  });
  return await measure(peer, Number(new URL(gateway.baseUrl).port), options.databaseCpu);
}

/** The limits still count; they are only out of reach. */
const UNLIMITED = { gatewayPerMinute: 1e9, globalPerMinute: 1e9, ipPerMinute: 1e9 };

/** uWebSockets.js in, undici out, the usage parsed: what the metering is measured against. */
async function benchRelay(peer: ChildProcess, upstreamPort: number): Promise<Measured> {
  const uws = await loadUws();
  const pool = new Pool(`http://127.0.0.1:${upstreamPort}`, { connections: 256 });
  const headers = { 'content-type': 'application/json' };
  const forever = new AbortController().signal;
  setMaxListeners(0, forever);
  const bounds = {
    maxBytes: LIMITS.upstreamResponseBytes,
    totalMs: LIMITS.upstreamTotalMs,
    clock: systemClock,
    signal: forever,
  };
  const app = uws.App().post('/v1/chat/completions', (response) => {
    response.onAborted(() => {});
    response.onData((chunk) => {
      const body = Buffer.from(Buffer.from(chunk));
      const target = { path: '/v1/chat/completions', method: 'POST', headers, body } as const;
      collectAnswer(pool, target, bounds).then(
        (answer) => {
          JSON.parse(answer.body.toString('utf8'));
          response.cork(() => {
            response.writeHeader('content-type', 'application/json').end(answer.body);
          });
        },
        () => response.close(),
      );
    });
  });
  const port = await new Promise<number>((resolve) => {
    app.listen('127.0.0.1', 0, (socket) => resolve(uws.us_socket_local_port(socket as never)));
  });
  try {
    return await measure(peer, port);
  } finally {
    app.close();
    await pool.close();
  }
}
