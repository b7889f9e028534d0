import { type BenchRow, benchRow, verdict } from './bench-row.ts';
import { type Gateways, type UnderTest, withGateways } from './gateways.ts';
import { at } from './quantile.ts';
import type { Streamed, StreamOrder } from './streams-peer.ts';

const ROUNDS = 8;
const ALONE = { readers: 1, streams: 30, events: 1 };
const WARM_UP = { readers: 32, streams: 600, events: 1 };
const READERS = 256;
/** A second of them in each. */
const TOGETHER = { readers: READERS, streams: 4 * READERS, events: 50 };

type Name = 'relay' | 'metered' | 'portkey';
type Each<T> = Readonly<Record<Name, T[]>>;
type Together = Streamed & { readonly cpuMicros: number };
type Measured = {
  readonly commitMs: number[];
  readonly firstMs: Each<number>;
  readonly together: ReadonlyMap<Name, Together>;
};

/**
 * P3: what a metered stream on a durable ledger adds to the time to its first token over a bare relay of the same libraries
 * in the same run, for one reader; and how many of the events of 256 streams side by side are read. Portkey beside both.
 */
export const benchStreams = (): Promise<BenchRow[]> =>
  withGateways('streams-peer', async (gateways) =>
    rowsOf(await measure(gateways), gateways.missing),
  );

async function measure({ servers, ask, commits }: Gateways): Promise<Measured> {
  const read = ({ port, headers }: UnderTest, order: Omit<StreamOrder, 'port' | 'headers'>) =>
    ask<Streamed>({ ...order, port, headers });
  const firstMs: Each<number> = { relay: [], metered: [], portkey: [] };
  const commitMs: number[] = [];
  for (const server of servers.values()) await read(server, WARM_UP);
  // By turns, because a neighbour's load comes and goes.
  for (let round = 0; round < ROUNDS; round++) {
    commitMs.push(...(await commits(ALONE.streams)));
    for (const [name, server] of servers) {
      firstMs[name].push(...(await read(server, ALONE)).firstMs);
    }
  }
  const together = new Map<Name, Together>();
  for (const [name, server] of servers) {
    const before = server.cpu();
    const streamed = await read(server, TOGETHER);
    const cpuMicros = (server.cpu() - before) / streamed.events;
    together.set(name, { ...streamed, cpuMicros });
  }
  return { commitMs, firstMs, together };
}

function rowsOf({ commitMs, firstMs, together }: Measured, missing: string | undefined) {
  const row = (what: string, value: number, unit: string, note?: string): BenchRow =>
    benchRow('P3', what, value, unit, note);
  const added = (name: Name, share: number) => at(firstMs[name], share) - at(firstMs.relay, share);
  const [p50, p99] = [added('metered', 0.5), added('metered', 0.99)];
  const bar = { p50: at(commitMs, 0.5) + 0.3, p99: at(commitMs, 0.99) + 2 };
  const unread = (name: Name) => {
    const { events, broken } = together.get(name) ?? { events: Number.NaN, broken: 0 };
    return TOGETHER.streams * TOGETHER.events - events + broken;
  };
  const cpu = (name: Name) => together.get(name)?.cpuMicros ?? Number.NaN;
  const first = (name: Name) => at(together.get(name)?.firstMs ?? [], 0.5);
  const dropped = unread('metered');
  const each = `${READERS} streams of ${TOGETHER.events} events a second`;
  return [
    row('a commit of one row, p50', at(commitMs, 0.5), 'ms'),
    row('a commit of one row, p99', at(commitMs, 0.99), 'ms'),
    row('bare relay, first token, p50', at(firstMs.relay, 0.5), 'ms'),
    row('metered, added p50', p50, 'ms', `bar <= commit + 0.3 ms: ${verdict(p50 <= bar.p50)}`),
    row('metered, added p99', p99, 'ms', `bar <= commit p99 + 2 ms: ${verdict(p99 <= bar.p99)}`),
    row('Portkey, added p50', added('portkey', 0.5), 'ms', missing),
    row('Portkey, added p99', added('portkey', 0.99), 'ms', missing),
    row(`${each}, not read`, dropped, 'events', `bar 0: ${verdict(dropped === 0)}`),
    row('the same through Portkey', unread('portkey'), 'events', missing),
    row(`${READERS} streams, first token, p50`, first('metered'), 'ms'),
    row('the same through Portkey', first('portkey'), 'ms', missing),
    row(`${READERS} streams, CPU of the bare relay`, cpu('relay'), 'µs/event'),
    row(`${READERS} streams, CPU of the metered gateway`, cpu('metered'), 'µs/event'),
    row(`${READERS} streams, CPU of Portkey`, cpu('portkey'), 'µs/event', missing),
  ];
}
