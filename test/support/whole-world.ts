import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ServerDeps } from '../../src/app/build/world.ts';
import { type Api, createApi } from '../../src/app/commands/demo/api.ts';
import { type FundedAgent, fundAgent } from '../../src/app/commands/demo/fund-agent.ts';
import { completeSettings } from '../../src/app/local-secrets.ts';
import { startServer } from '../../src/app/server.ts';
import { readConfig } from '../../src/config/config.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { silentLog } from '../../src/kernel/log.ts';
import { systemRandom } from '../../src/kernel/random.ts';
import type { Sql } from '../../src/platform/postgres/sql.ts';
import { testDatabase } from './database.ts';
import { sharedEngines } from './shared-engines.ts';
import { testWallet } from './wallet.ts';

export type WholeWorld = AsyncDisposable & {
  readonly url: string;
  readonly wsUrl: string;
  readonly port: number;
  readonly adminApiKey: string;
  readonly sql: Sql;
  readonly api: Api;
  /** An agent with a key of its own and this balance. */
  fund(name: string, amountRaw?: bigint): Promise<FundedAgent>;
};

/** The server as it is built for an operator, in this process, on a database of its own. */
export async function startWorld(
  environment: Record<string, string> = {},
  deps: Partial<ServerDeps> = {},
): Promise<WholeWorld> {
  const directory = mkdtempSync(join(tmpdir(), 'svc-world-'));
  const database = await testDatabase();
  const config = readConfig({
    DATABASE_URL: join(directory, 'db'),
    ...environment,
  });
  const { settings } = completeSettings(config, systemRandom);
  const server = await startServer({
    settings,
    database: database.target,
    port: 0,
    log: silentLog,
    clock: systemClock,
    random: systemRandom,
    secret: () => undefined,
    engines: sharedEngines(),
    ...deps,
  });
  const { adminApiKey } = settings;
  // What the public reaches under another name is reached here by its port.
  const url = environment.PUBLIC_URL === undefined ? server.url : `http://127.0.0.1:${server.port}`;
  const api = createApi(url);
  return {
    url,
    port: server.port,
    adminApiKey,
    api,
    sql: database.sql,
    wsUrl: url.replace(/^http/, 'ws'),
    fund: (name, amountRaw = 1_000_000n) =>
      fundAgent(api, { name, amountRaw, adminApiKey, nowSeconds: epochSeconds(), said: () => {} }),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

export const epochSeconds = () => Math.floor(Date.now() / 1_000);

/** What a call answered, whatever it was. */
export type Told = {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
};

export type Ask = {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Text and bytes go out as they are, everything else as JSON. */
  readonly body?: unknown;
};

/** Calls a route and reads the answer as JSON; text that is none stands under `text`. */
export async function ask(url: string, { method, headers, body }: Ask = {}): Promise<Told> {
  const plain = typeof body === 'string' || body instanceof Uint8Array;
  const payload = body === undefined ? {} : { body: plain ? body : JSON.stringify(body) };
  const answer = await fetch(url, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: { 'content-type': 'application/json', ...headers },
    ...(payload as { body?: string }),
    signal: AbortSignal.timeout(15_000),
  });
  const text = await answer.text();
  const told = { status: answer.status, headers: answer.headers };
  try {
    return { ...told, body: JSON.parse(text) as Record<string, unknown> };
  } catch {
    return { ...told, body: { text } };
  }
}

export type Developer = {
  /** Of a developer key that may write. */
  readonly headers: Readonly<Record<string, string>>;
  /** A wallet signature made now. */
  sign(): Promise<Record<string, string>>;
  createAgent(name: string): Promise<number>;
  mintKey(agentId: number): Promise<{ readonly keyId: number; readonly key: string }>;
};

/** A developer with a key, who can do over HTTP what the dashboard does. */
export async function newDeveloper(api: Api, name: string): Promise<Developer> {
  const wallet = testWallet(name);
  const sign = () => wallet.headers(Date.now());
  const { key } = await api.call<{ key: string }>('POST', '/v1/developer/keys', {
    headers: await sign(),
    body: { permissions: 'read_write' },
  });
  const headers = { authorization: `Bearer ${key}` };
  return {
    headers,
    sign,
    async createAgent(agentName) {
      const body = { name: agentName, maxRateBps: 1_000, expirySeconds: 86_400 };
      const made = await api.call<{ agentId: number }>('POST', '/v1/developer/agents', {
        headers,
        body,
      });
      return made.agentId;
    },
    async mintKey(agentId) {
      const path = `/v1/developer/agents/${agentId}/keys`;
      const made = await api.call<{ keyId: number; key: string }>('POST', path, {
        headers,
        body: {},
      });
      return { keyId: Number(made.keyId), key: made.key };
    },
  };
}

/** One question to the guide, as the agent's program would put it. */
export const askGuide = (url: string, agentKey: string): Promise<Told> =>
  ask(`${url}/v1/chat/completions`, {
    headers: { authorization: `Bearer ${agentKey}` },
    body: { model: 'local/guide', messages: [{ role: 'user', content: 'What is 2 + 3?' }] },
  });

export type Money = {
  readonly spendable: bigint;
  readonly held: bigint;
  readonly credited: bigint;
  /** What the rows say was bought. */
  readonly charged: bigint;
};

/** Where an agent's money is, as the database has it. */
export async function moneyOf(sql: Sql, agentId: number): Promise<Money> {
  const [row] = await sql<Money[]>`
    select spendable_raw as spendable, held_raw as held, credited_raw as credited,
      (select coalesce(sum(cost_raw), 0)::bigint from charges c where c.agent_id = f.agent_id)
        as charged
    from agent_funds f where agent_id = ${agentId}`;
  return row ?? { spendable: 0n, held: 0n, credited: 0n, charged: 0n };
}

/** Waits until nothing of an agent is held any more. */
export async function settledMoney(sql: Sql, agentId: number, withinMs = 5_000): Promise<Money> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const money = await moneyOf(sql, agentId);
    if (money.held === 0n) return money;
    if (performance.now() > deadline) throw new Error(`${money.held} raw stay held`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
