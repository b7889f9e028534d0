import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { createApi } from '../../src/app/commands/demo/api.ts';
import { type FundedAgent, fundAgent } from '../../src/app/commands/demo/fund-agent.ts';
import { checkInvariants } from '../../src/ledger/store/check-invariants.ts';
import { type DatabaseTarget, openSql, type Sql } from '../../src/platform/postgres/sql.ts';
import {
  type CrashLedger,
  type CrashTarget,
  loadUntilGone,
  sendCredit,
} from '../support/crash-load.ts';
import { testDatabase } from '../support/database.ts';
import { exhaustive } from '../support/exhaustive.ts';
import { type OpenAiUpstream, openAiUpstream, SHORT_USAGE } from '../support/openai-upstream.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';

const ROUNDS = exhaustive ? 20 : 6;
/** They take turns: a fast machine buys in all rounds together more than a few of them may in a minute. */
const AGENTS = ROUNDS;
const CALLERS = 6;
const ADMIN_KEY = 'admin-key-of-the-crash-test';
const MODEL = 'acme/fast-1';
/** Two leases and a little: what a dead process held is resolved by then. */
const ORPHAN_WAIT_MS = 60_000;
const PURCHASE_WAIT_MS = 30_000;

let directory: string;
let upstream: OpenAiUpstream;
let place: { readonly url: string; readonly target: DatabaseTarget; dispose(): Promise<void> };

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'svc-kill-'));
  upstream = await openAiUpstream();
  upstream.usage = SHORT_USAGE;
  place = await somewhere();
  const rates = { text_input_token: '2.5', text_output_token: '10', request: '1000' };
  writeFileSync(
    join(directory, 'catalog.json'),
    JSON.stringify({
      providers: { acme: { baseUrl: upstream.baseUrl, dialect: 'openai' } },
      models: [
        {
          id: MODEL,
          modality: 'text',
          contextWindow: 128_000,
          sources: [
            {
              rail: 'direct-account',
              provider: 'acme',
              upstreamModel: 'fast-1',
              marginBps: 500,
              rates,
            },
          ],
        },
      ],
    }),
  );
});

afterAll(async () => {
  await place.dispose();
  await upstream[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true, force: true });
});

/** The server of this run: the shared PostgreSQL, or a directory with its own embedded one. */
async function somewhere(): Promise<typeof place> {
  if (inject('testServer').kind === 'url') {
    const database = await testDatabase(1);
    const { url } = database.target as { url: string };
    return { url, target: database.target, dispose: () => database[Symbol.asyncDispose]() };
  }
  const path = join(directory, 'db');
  const socket = {
    kind: 'socket',
    directory: join(path, 'postgres-18'),
    user: 'app',
    database: 'postgres',
  } as const;
  return { url: path, target: socket, dispose: async () => {} };
}

const start = () =>
  startServerProcess({
    DATABASE_URL: place.url,
    ADMIN_API_KEY: ADMIN_KEY,
    LOG_LEVEL: 'info',
    API_KEY_HMAC_SECRET: 'h'.repeat(32),
    CATALOG_FILE: join(directory, 'catalog.json'),
    JWT_SECRET: 'j'.repeat(32),
    MANAGED_WALLET_APP_ID: 'local',
    MANAGED_WALLET_APP_SECRET: 's'.repeat(32),
    MANAGED_WALLET_AUTHORIZATION_PRIVATE_KEY: 'k'.repeat(32),
    FACILITATOR_PRIVATE_KEY: `0x${'1'.repeat(64)}`,
  });

async function fundAgents(server: ServerProcess): Promise<FundedAgent[]> {
  const agents: FundedAgent[] = [];
  for (let n = 0; n < AGENTS; n++) {
    agents.push(
      await fundAgent(createApi(server.url), {
        name: `crash ${n}`,
        amountRaw: 100_000_000n,
        adminApiKey: ADMIN_KEY,
        nowSeconds: Math.floor(Date.now() / 1_000),
        said: () => {},
      }),
    );
  }
  return agents;
}

/** Everything that was acknowledged is there, once, and the ledger adds up. */
async function check(sql: Sql, ledger: CrashLedger): Promise<void> {
  expect(await checkInvariants(sql)).toEqual([]);
  const postings = await sql<{ id: string; amounts: bigint[] }[]>`
    select id, amounts from postings where code = 'funding.credit'`;
  const credited = new Map(postings.map(({ id, amounts }) => [id, amounts[0]]));
  for (const [reference, { amountRaw, acknowledged }] of ledger.credits) {
    if (acknowledged) expect(credited.get(`credit:${reference}`), reference).toBe(amountRaw);
  }
  const charges = await sql<{ task_id: string; cost_raw: bigint }[]>`
    select task_id, cost_raw from charges where task_id is not null`;
  const charged = new Map(charges.map(({ task_id, cost_raw }) => [task_id, cost_raw]));
  expect(charged.size, 'no work was charged twice').toBe(charges.length);
  for (const [taskId, costRaw] of ledger.debits) expect(charged.get(taskId), taskId).toBe(costRaw);
  const [sums] = await sql<{ charged: bigint; consumed: bigint }[]>`
    select (select coalesce(sum(cost_raw), 0)::bigint from charges) as charged,
           (select coalesce(sum(consumed_raw), 0)::bigint from agent_funds) as consumed`;
  expect(sums?.charged, 'what the rows say was bought is what the balances lost').toBe(
    sums?.consumed,
  );
}

async function waitForNoHolds(sql: Sql): Promise<void> {
  const deadline = performance.now() + ORPHAN_WAIT_MS;
  for (;;) {
    const [row] = await sql<{ open: number }[]>`select count(*)::int as open from holds`;
    if (row?.open === 0) return;
    if (performance.now() > deadline)
      throw new Error(`${row?.open} holds of dead processes stay open`);
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

/** Waits for one more acknowledged debit: a slow machine buys nothing in the first half second of a process. */
async function firstPurchase({ debits }: CrashLedger): Promise<void> {
  const before = debits.size;
  await expect.poll(() => debits.size, { timeout: PURCHASE_WAIT_MS }).toBeGreaterThan(before);
}

describe('a server that is killed under load', () => {
  it(`a loaded server keeps every acknowledged credit and debit through ${ROUNDS} kills and resolves all open holds`, async () => {
    const ledger: CrashLedger = { credits: new Map(), debits: new Map() };
    let agents: FundedAgent[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      await using server = await start();
      if (agents.length === 0) agents = await fundAgents(server);
      const target: CrashTarget = { url: server.url, adminApiKey: ADMIN_KEY, agents, model: MODEL };
      // What the last kill left unanswered is asked for again: by its reference it counts once.
      for (const [reference, credit] of ledger.credits) {
        if (!credit.acknowledged) await sendCredit(target, ledger, reference);
      }
      const sql = openSql(place.target, 1);
      await check(sql, ledger);
      await sql.end();
      const stopped = new AbortController();
      const load = loadUntilGone(target, ledger, {
        round,
        callers: CALLERS,
        stopped: stopped.signal,
      });
      // Every third kill may come before anything was bought; the others come while purchases run.
      if (round % 3 !== 0) await firstPurchase(ledger);
      await new Promise((resolve) => setTimeout(resolve, 150 + Math.random() * 350));
      await server.kill();
      stopped.abort();
      await load;
    }
    expect(ledger.debits.size, 'the load bought something').toBeGreaterThan(ROUNDS);

    await using last = await start();
    const sql = openSql(place.target, 1);
    await waitForNoHolds(sql);
    await check(sql, ledger);
    await sql.end();
    expect(await last.stop()).toBe(0);
  }, 600_000);
});
