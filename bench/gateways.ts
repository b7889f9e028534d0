import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog } from '../src/kernel/log.ts';
import { openDatabase } from '../src/platform/postgres/database.ts';
import type { DatabaseTarget } from '../src/platform/postgres/sql.ts';
import { compiled } from '../test/support/compiled.ts';
import { AGENT_KEY } from '../test/support/gateway-world.ts';
import { seedAgent } from '../test/support/ledger-world.ts';
import { nextMessage } from '../test/support/next-message.ts';
import { nodeUnderTest, stayBeside } from './cores.ts';
import { databaseCpuOf, processCpu } from './cpu.ts';
import { openPortkey } from './portkey.ts';

export type MeteredOrder = {
  readonly kind: 'metered';
  readonly upstreamPort: number;
  readonly target: DatabaseTarget;
  readonly agentId: number;
  readonly keyId: number;
  /** The collector of its spans. Undefined: nothing is traced. */
  readonly collectorUrl?: string;
};
export type HostOrder = MeteredOrder | { readonly kind: 'relay'; readonly upstreamPort: number };

/** A server that relays chat, in a process and on a core of its own. */
export type UnderTest = {
  readonly port: number;
  readonly headers: Readonly<Record<string, string>>;
  /** What it has used so far, in microseconds of CPU. */
  cpu(): number;
};

type Host = UnderTest & AsyncDisposable & { ask<T>(order: unknown): Promise<T> };

/** What is measured side by side, and those who load it. */
export type Gateways = {
  /** In the order in which they take turns. */
  readonly servers: ReadonlyMap<'relay' | 'metered' | 'portkey', UnderTest>;
  /** Why Portkey is not among them. */
  readonly missing: string | undefined;
  /** Has the callers do something. */
  ask<T>(order: unknown): Promise<T>;
  /** How long so many commits of one row take from where the metered gateway is, in milliseconds each. */
  commits(times: number): Promise<number[]>;
  databaseCpu(): Promise<number>;
};

/**
 * The bare relay, the metered gateway on a durable ledger, and Portkey, all on one core, before the upstream of `peer`,
 * which is on the other with the callers and the database: the server at TEST_DATABASE_URL, or an embedded one with its
 * usual durability.
 */
export async function withGateways<T>(
  peer: string,
  run: (gateways: Gateways) => Promise<T>,
): Promise<T> {
  return await withMetered(peer, async ({ metered, upstreamPort, ...rest }) => {
    await using relay = await openHost({ kind: 'relay', upstreamPort });
    await using portkey = await portkeyBefore(upstreamPort);
    const { missing } = portkey;
    return await run({
      servers: new Map([
        ['relay', relay],
        ['metered', metered],
        ...(missing === undefined ? [['portkey', portkey] as const] : []),
      ]),
      missing,
      ...rest,
      commits: metered.ask,
    });
  });
}

type Metered = Pick<Gateways, 'ask' | 'databaseCpu'> & {
  readonly metered: Host;
  readonly upstreamPort: number;
};

/** The same with the metered gateway alone. */
export async function withMetered<T>(
  peer: string,
  run: (metered: Metered) => Promise<T>,
): Promise<T> {
  const directory = mkdtempSync(join(tmpdir(), 'bench-gateway-'));
  using _beside = stayBeside();
  try {
    await using database = await openBenchDatabase(join(directory, 'db'));
    await using callers = await openPeer(peer);
    const { ask, upstreamPort } = callers;
    const { sql, target } = database;
    const agent = await seedAgent(sql);
    await using metered = await openHost({ kind: 'metered', upstreamPort, target, ...agent });
    return await run({ metered, upstreamPort, ask, databaseCpu: await databaseCpuOf(sql) });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

export async function openBenchDatabase(path: string) {
  const url = process.env.TEST_DATABASE_URL;
  const place = url === undefined ? ({ kind: 'directory', path } as const) : undefined;
  const database = await openDatabase({
    database: place ?? { kind: 'url', url: url ?? '' },
    log: silentLog,
    connections: 4,
  });
  await database.migrate();
  return database;
}

/** The upstream and its callers, in a process of their own. */
export async function openPeer(module: string) {
  const child = fork(compiled(`bench/${module}.ts`), { execArgv: [] });
  const { upstreamPort } = await nextMessage<{ upstreamPort: number }>(child);
  return {
    upstreamPort,
    async ask<T>(order: unknown): Promise<T> {
      child.send(order as object);
      const answer = await nextMessage<T | { failed: string }>(child);
      if (typeof answer === 'object' && answer !== null && 'failed' in answer) {
        throw new Error(`the load failed: ${answer.failed}`);
      }
      return answer as T;
    },
    [Symbol.asyncDispose]: () => end(child),
  };
}

export async function openHost(order: HostOrder): Promise<Host> {
  const [command, options] = nodeUnderTest();
  const module = compiled('bench/gateway-host.ts');
  const child = fork(module, [JSON.stringify(order)], { execPath: command, execArgv: options });
  const { port } = await nextMessage<{ port: number }>(child);
  return {
    port,
    headers: { authorization: `Bearer ${AGENT_KEY}` },
    cpu: () => processCpu(child.pid ?? 0),
    async ask<T>(question: unknown) {
      child.send(question as object);
      return nextMessage<T>(child);
    },
    [Symbol.asyncDispose]: () => end(child),
  };
}

/** As its users speak to it: the upstream is named by each request. */
async function portkeyBefore(
  upstreamPort: number,
): Promise<UnderTest & AsyncDisposable & { readonly missing?: string | undefined }> {
  const headers = {
    authorization: 'Bearer bench',
    'x-portkey-provider': 'openai',
    'x-portkey-custom-host': `http://127.0.0.1:${upstreamPort}/v1`,
  };
  try {
    const portkey = await openPortkey();
    const { pid, port } = portkey;
    return { port, headers, cpu: () => processCpu(pid), [Symbol.asyncDispose]: portkey.close };
  } catch (error) {
    const [why] = String(error).split('\n');
    const none = { port: 0, headers, cpu: () => 0, [Symbol.asyncDispose]: async () => {} };
    return { ...none, missing: `not measured: ${why}` };
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.disconnect();
  await exited;
}
