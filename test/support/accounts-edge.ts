import { afterAll, beforeAll } from 'vitest';
import { parse } from 'yaml';
import { createApiDescription } from '../../src/http/server/api-description.ts';
import type { RateLimits } from '../../src/rate-limit/rate-gate.ts';
import { ROUTES } from '../../src/routes/index.ts';
import { type AccountsWorld, ADMIN_KEY, accountsWorld } from './accounts.ts';
import { testDatabase } from './database.ts';
import { bearer } from './edge.ts';
import { startKeyedEdge } from './keyed-edge.ts';
import { testWallet } from './wallet.ts';

/** One answer, read whole. */
type Answer = {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look wherever they expect something.
  readonly body: any;
};

export type Ask = (
  method: string,
  path: string,
  how?: { readonly headers?: Record<string, string>; readonly body?: unknown },
) => Promise<Answer>;

export const ADMIN = { 'x-admin-key': ADMIN_KEY };

export const PREPAID = { name: 'caller 1', maxRateBps: 1_000, expirySeconds: 31_536_000 };

const MINE = /^\/v1\/(developer|admin|agents)\b/;

/** The accounts' routes on the real edge, in front of a world. */
export async function accountsEdge(
  world: AccountsWorld,
  options: { readonly rateLimits?: Partial<RateLimits> } = {},
) {
  const routes = ROUTES.filter(({ path }) => MINE.test(path));
  const edge = await startKeyedEdge(world.sql, routes, {
    services: { ...world, secureCookies: false },
    credentials: world.credentials,
    clock: world.clock,
    seeAiTool: world.aiTools.see,
    ...options,
  });
  const ask: Ask = async (method, path, { headers = {}, body } = {}) => {
    const response = await fetch(edge.url + path, {
      method,
      headers: body === undefined ? headers : { 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: JSON.parse(text) };
  };
  /** Headers of a developer key that may write, on the account of the named wallet. */
  const developer = async (name: string) => {
    const headers = await testWallet(name).headers(world.clock.now());
    const wanted = { headers, body: { permissions: 'read_write' } };
    return bearer((await ask('POST', '/v1/developer/keys', wanted)).body.key);
  };
  return {
    ask,
    developer,
    /** An agent with one key, on the account of the named wallet. */
    async agentOf(name: string) {
      const headers = await developer(name);
      const { body: agent } = await ask('POST', '/v1/developer/agents', { headers, body: PREPAID });
      const path = `/v1/developer/agents/${agent.agentId}`;
      const { body: minted } = await ask('POST', `${path}/keys`, { headers });
      return { headers, agent, path, minted, key: bearer(minted.key) };
    },
    description: (): object => {
      const yaml = createApiDescription({ routes, sockets: [] }).yaml();
      return parse(Buffer.from(yaml).toString()).paths;
    },
    [Symbol.asyncDispose]: () => edge[Symbol.asyncDispose](),
  };
}

/** One edge on a database of its own, for all tests of a file. What it hands out works inside of them. */
export function useAccountsEdge() {
  let opened: Awaited<ReturnType<typeof openEdge>>;
  beforeAll(async () => {
    opened = await openEdge();
  });
  afterAll(async () => {
    await opened.edge[Symbol.asyncDispose]();
    await opened.db[Symbol.asyncDispose]();
  });
  const ask: Ask = (...request) => opened.edge.ask(...request);
  return {
    ask,
    get edge() {
      return opened.edge;
    },
    get world() {
      return opened.world;
    },
    get sql() {
      return opened.db.sql;
    },
  };
}

async function openEdge() {
  const db = await testDatabase();
  const world = accountsWorld(db.sql);
  return { db, world, edge: await accountsEdge(world) };
}
