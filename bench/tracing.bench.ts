import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { seedAgent } from '../test/support/ledger-world.ts';
import { listenOnLoopback } from '../test/support/listen-on-loopback.ts';
import { type BenchRow, benchRow } from './bench-row.ts';
import { stayBeside } from './cores.ts';
import type { Load } from './gateway-peer.ts';
import { openBenchDatabase, openHost, openPeer, type UnderTest } from './gateways.ts';
import { median } from './quantile.ts';

/** By turns, because a neighbour's load comes and goes; a first one more, in which everything is compiled. */
const ROUNDS = 5;
const REQUESTS = 8_000;
const CALLERS = 64;

/** A caller that samples no trace. */
const UNSAMPLED = { traceparent: `00-${'4b'.repeat(16)}-00f067aa0ba902b7-00` };

/**
 * What tracing costs a metered chat, in CPU of its process: where no collector is configured, where every trace is
 * recorded and exported (two spans a chat), and where one is configured and the caller samples nothing.
 */
export async function benchTracing(): Promise<BenchRow[]> {
  const directory = mkdtempSync(join(tmpdir(), 'bench-tracing-'));
  using _beside = stayBeside();
  try {
    await using collector = await discardingCollector();
    await using database = await openBenchDatabase(join(directory, 'db'));
    await using callers = await openPeer('gateway-peer');
    const { upstreamPort } = callers;
    const { sql, target } = database;
    const order = async () => ({
      kind: 'metered' as const,
      upstreamPort,
      target,
      ...(await seedAgent(sql)),
    });
    const collectorUrl = `${collector.baseUrl}/traces`;
    await using off = await openHost(await order());
    await using traced = await openHost({ ...(await order()), collectorUrl });
    const unsampled = { ...traced, headers: { ...traced.headers, ...UNSAMPLED } };
    const servers = { off, traced, unsampled };
    const took: Record<keyof typeof servers, number[]> = { off: [], traced: [], unsampled: [] };
    for (let round = 0; round <= ROUNDS; round++) {
      for (const [name, server] of Object.entries(servers)) {
        const micros = await cpuOfOne(server, callers.ask);
        if (round > 0) took[name as keyof typeof servers].push(micros);
      }
    }
    return rowsOf(took, collector.posts.count);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function cpuOfOne(
  { cpu, headers, port }: UnderTest,
  ask: <T>(order: unknown) => Promise<T>,
): Promise<number> {
  const before = cpu();
  await ask<Load>({ port, headers, requests: REQUESTS, callers: CALLERS });
  return (cpu() - before) / REQUESTS;
}

function rowsOf(
  took: Readonly<Record<'off' | 'traced' | 'unsampled', readonly number[]>>,
  posts: number,
): BenchRow[] {
  const row = (what: string, value: number, note?: string) =>
    benchRow('O1', what, value, 'µs', note);
  const added = (name: 'traced' | 'unsampled') =>
    median(took[name].map((micros, i) => micros - (took.off[i] ?? Number.NaN)));
  return [
    row('chat without tracing, CPU a request', median([...took.off])),
    row('recorded and exported, added CPU', added('traced'), `${posts} posts`),
    row('not sampled by the caller, added CPU', added('unsampled')),
  ];
}

/** A collector that takes every post and keeps nothing. */
async function discardingCollector() {
  const posts = { count: 0 };
  const server = createServer((request, response) => {
    posts.count++;
    request.resume();
    request.once('end', () => response.end());
  });
  return { ...(await listenOnLoopback(server)), posts };
}
