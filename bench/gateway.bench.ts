import type { DatabaseTarget } from '../src/platform/postgres/sql.ts';
import { type BenchRow, benchRow, verdict } from './bench-row.ts';
import type { Load, LoadOrder } from './gateway-peer.ts';
import { type Gateways, openHost, openPeer, type UnderTest, withGateways } from './gateways.ts';
import { at, median } from './quantile.ts';

const PEER = 'gateway-peer';
/** By turns, because a neighbour's load comes and goes; a first one more, in which everything is compiled. */
const ROUNDS = 5;
const CALLERS = 64;
/** Of a round: each server answers for a second or so. */
const REQUESTS = { relay: 8_000, metered: 8_000, portkey: 1_500 };
const ALONE = { rounds: 10, requests: 200 };

type Name = keyof typeof REQUESTS;
type Loaded = Readonly<Record<'cpuMicros' | 'databaseMicros' | 'perSecond', number>>;
type Each<T> = Readonly<Record<Name, T[]>>;

/**
 * P1 and P2: a metered chat completion (edge, credential, rate limits, hold, upstream, settle, receipt) on a durable
 * ledger, beside a bare relay over the same libraries and beside Portkey, which meters nothing, in the same run: the CPU
 * that its process needs for one of many at once, and what it adds to the time that a single caller waits.
 */
export const benchGateway = (): Promise<BenchRow[]> =>
  withGateways(PEER, async (gateways) => [
    ...rowsOfLoad(await loadAll(gateways), gateways.missing),
    ...rowsOfWait(await waitAlone(gateways), gateways.missing),
  ]);

async function loadAll({ servers, ask, databaseCpu }: Gateways): Promise<Each<Loaded>> {
  const took: Each<Loaded> = { relay: [], metered: [], portkey: [] };
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [name, server] of servers) {
      const loaded = await load({ server, ask, databaseCpu }, REQUESTS[name]);
      if (round > 0) took[name].push(loaded);
    }
  }
  return took;
}

async function load(
  on: Pick<Gateways, 'ask' | 'databaseCpu'> & { readonly server: UnderTest },
  requests: number,
): Promise<Loaded> {
  const { server, ask, databaseCpu } = on;
  const before = { cpu: server.cpu(), database: await databaseCpu() };
  const { perSecond } = await ask<Load>(orderOf(server, requests, CALLERS));
  const cpuMicros = (server.cpu() - before.cpu) / requests;
  const databaseMicros = ((await databaseCpu()) - before.database) / requests;
  return { perSecond, cpuMicros, databaseMicros };
}

const orderOf = ({ port, headers }: UnderTest, requests: number, callers: number): LoadOrder => ({
  port,
  headers,
  requests,
  callers,
});

type Waited = {
  readonly ms: Each<number>;
  readonly commitMs: number[];
  readonly databaseMicros: number;
};

async function waitAlone({ servers, ask, commits, databaseCpu }: Gateways): Promise<Waited> {
  const ms: Each<number> = { relay: [], metered: [], portkey: [] };
  const commitMs: number[] = [];
  let databaseMicros = 0;
  for (let round = 0; round < ALONE.rounds; round++) {
    commitMs.push(...(await commits(ALONE.requests)));
    for (const [name, server] of servers) {
      const before = await databaseCpu();
      ms[name].push(...(await ask<Load>(orderOf(server, ALONE.requests, 1))).tookMs);
      if (name === 'metered') databaseMicros += (await databaseCpu()) - before;
    }
  }
  return { ms, commitMs, databaseMicros: databaseMicros / (ALONE.rounds * ALONE.requests) };
}

function rowsOfLoad(took: Each<Loaded>, missing: string | undefined): BenchRow[] {
  const row = (what: string, value: number, unit: string, note?: string): BenchRow =>
    benchRow('P1', what, value, unit, note);
  const of = (name: Name, what: keyof Loaded) => median(took[name].map((loaded) => loaded[what]));
  /** Of two that were measured one after the other. */
  const over = (name: Name) =>
    median(took.metered.map(({ cpuMicros }, i) => cpuMicros / (took[name][i]?.cpuMicros ?? NaN)));
  const [cpu, rate] = [of('metered', 'cpuMicros'), of('metered', 'perSecond')];
  const times = { relay: over('relay'), portkey: over('portkey') };
  return [
    row('bare relay, CPU a request', of('relay', 'cpuMicros'), 'µs'),
    row('metered chat, CPU a request', cpu, 'µs', `bar <= 120: ${verdict(cpu <= 120)}`),
    row('Portkey, CPU a request', of('portkey', 'cpuMicros'), 'µs', missing),
    row('metered ÷ bare relay', times.relay, '×', `bar <= 3: ${verdict(times.relay <= 3)}`),
    row(
      'metered ÷ Portkey',
      times.portkey,
      '×',
      missing ?? `bar <= 1/7: ${verdict(times.portkey <= 1 / 7)}`,
    ),
    row(`bare relay, ${CALLERS} callers`, of('relay', 'perSecond'), 'requests/s'),
    row(
      `metered chat, ${CALLERS} callers`,
      rate,
      'requests/s',
      `bar >= 6000: ${verdict(rate >= 6_000)}`,
    ),
    row(`Portkey, ${CALLERS} callers`, of('portkey', 'perSecond'), 'requests/s', missing),
    row('metered chat, CPU of the database', of('metered', 'databaseMicros'), 'µs'),
  ];
}

function rowsOfWait(took: Waited, missing: string | undefined): BenchRow[] {
  const row = (what: string, value: number, unit: string, note?: string): BenchRow =>
    benchRow('P2', what, value, unit, note);
  const added = (name: Name, share: number) => at(took.ms[name], share) - at(took.ms.relay, share);
  const [p50, p99] = [added('metered', 0.5), added('metered', 0.99)];
  const bar = { p50: 2 * at(took.commitMs, 0.5) + 0.3, p99: 2 * at(took.commitMs, 0.99) + 2 };
  return [
    row('a commit of one row, p50', at(took.commitMs, 0.5), 'ms'),
    row('a commit of one row, p99', at(took.commitMs, 0.99), 'ms'),
    row('bare relay, one caller, p50', at(took.ms.relay, 0.5), 'ms'),
    row('metered, added p50', p50, 'ms', `bar <= 2 commits + 0.3 ms: ${verdict(p50 <= bar.p50)}`),
    row(
      'metered, added p99',
      p99,
      'ms',
      `bar <= 2 commits' p99 + 2 ms: ${verdict(p99 <= bar.p99)}`,
    ),
    row('Portkey, added p50', added('portkey', 0.5), 'ms', missing),
    row('Portkey, added p99', added('portkey', 0.99), 'ms', missing),
    row('metered, CPU of the database', took.databaseMicros, 'µs'),
  ];
}

/** Metered chat alone, on a database that is there already. */
export async function measureMetered(options: {
  readonly target: DatabaseTarget;
  readonly agentId: number;
  readonly keyId: number;
  readonly databaseCpu: () => Promise<number>;
}): Promise<Loaded> {
  const { databaseCpu, ...agent } = options;
  await using callers = await openPeer(PEER);
  const { ask, upstreamPort } = callers;
  await using server = await openHost({ kind: 'metered', upstreamPort, ...agent });
  await load({ server, ask, databaseCpu }, REQUESTS.metered);
  return await load({ server, ask, databaseCpu }, REQUESTS.metered);
}
