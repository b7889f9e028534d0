import { Agent, Client, request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApi } from '../../src/app/commands/demo/api.ts';
import { type FundedAgent, fundAgent } from '../../src/app/commands/demo/fund-agent.ts';
import { checkInvariants } from '../../src/ledger/store/check-invariants.ts';
import { openSql } from '../../src/platform/postgres/sql.ts';
import { type OpenAiUpstream, openAiUpstream } from '../support/openai-upstream.ts';
import {
  ADMIN_KEY,
  type ProcessPlace,
  processPlace,
  writeCatalogue,
} from '../support/process-place.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { type LiveSockets, openBoth } from '../support/stop-agent.ts';
import { ask, epochSeconds, moneyOf, type Told } from '../support/whole-world.ts';

const MODEL = 'acme/slow-1';
const FUNDS = 10_000_000n;

let place: ProcessPlace;
let upstream: OpenAiUpstream;
let catalogue: string;
beforeAll(async () => {
  place = await processPlace();
  upstream = await openAiUpstream();
  catalogue = writeCatalogue(place.directory, MODEL, upstream.baseUrl);
});
afterAll(async () => {
  await upstream[Symbol.asyncDispose]();
  await place[Symbol.asyncDispose]();
});

type Busy = {
  readonly agent: FundedAgent;
  readonly sockets: LiveSockets;
  readonly completion: Promise<Told>;
};

const start = (more: Record<string, string> = {}) =>
  startServerProcess({ ...place.environment, CATALOG_FILE: catalogue, ...more });

/** Puts a server in the middle of things: two sockets stand, and a completion waits for its upstream. */
async function makeBusy(
  server: ServerProcess,
  name: string,
  fault: OpenAiUpstream['faults'][number],
): Promise<Busy> {
  const agent = await fundAgent(createApi(server.url), {
    name,
    amountRaw: FUNDS,
    adminApiKey: ADMIN_KEY,
    said: () => {},
    nowSeconds: epochSeconds(),
  });
  const sockets = await openBoth(server.url.replace(/^http/, 'ws'), agent.agentKey);
  const before = upstream.seen.length;
  upstream.faults.push(fault);
  const completion = complete(server.url, agent);
  await expect.poll(() => upstream.seen.length).toBe(before + 1);
  return { agent, sockets, completion };
}

const QUESTION = { model: MODEL, messages: [{ role: 'user', content: 'hello' }], max_tokens: 64 };

const complete = (url: string, { agentKey }: FundedAgent): Promise<Told> =>
  ask(`${url}/v1/chat/completions`, {
    headers: { authorization: `Bearer ${agentKey}` },
    body: QUESTION,
  });

/** The same for one connection that stands already. */
const completionOf = ({ agentKey }: FundedAgent) => ({
  method: 'POST' as const,
  path: '/v1/chat/completions',
  headers: { authorization: `Bearer ${agentKey}`, 'content-type': 'application/json' },
  body: JSON.stringify(QUESTION),
});

/** Starts the server once more and looks at the money when it has; another clean stop must follow. */
async function lookAfterwards(agentId: number) {
  await using next = await start();
  const sql = openSql(place.target, 1);
  const money = await moneyOf(sql, agentId);
  const violations = await checkInvariants(sql);
  const [open] = await sql`select count(*)::int as holds from holds`;
  await sql.end();
  expect(await next.stop(), next.output()).toBe(0);
  return { money, violations, holds: open?.holds };
}

const FINE = { violations: [], holds: 0 };

describe('a stop by SIGTERM', () => {
  it('SIGTERM lets running requests finish, refuses new connections, closes sockets with 1012 and exits with 0', async () => {
    await using server = await start();
    const { agent, sockets, completion } = await makeBusy(server, 'drained', {
      kind: 'late',
      byMs: 1_500,
    });
    const standing = new Client(server.url);
    await (await standing.request({ method: 'GET', path: '/v1/health' })).body.dump();
    const exited = server.stop();
    await expect.poll(() => server.output()).toContain('stopping');
    const kept = await standing.request(completionOf(agent));
    expect([kept.statusCode, kept.headers.connection]).toEqual([200, 'close']);
    await kept.body.dump();
    await standing.destroy();
    const fresh = { dispatcher: new Agent() };
    await expect(request(`${server.url}/v1/health`, fresh)).rejects.toThrow('ECONNREFUSED');

    const answered = await completion;
    expect(answered.status).toBe(200);
    expect((await sockets.transcription.closed).code).toBe(1012);
    expect((await sockets.realtime.closed).code).toBe(1012);
    expect(await exited, server.output()).toBe(0);

    const { money, ...rest } = await lookAfterwards(agent.agentId);
    expect(rest).toEqual(FINE);
    const costs = [answered.headers.get('x-svc-cost-usdc'), kept.headers['x-svc-cost-usdc']];
    expect(money.charged).toBe(costs.reduce((sum, cost) => sum + BigInt(String(cost)), 0n));
    expect(money).toMatchObject({ held: 0n, spendable: FUNDS - money.charged });
  });

  it('SIGTERM gives up running requests at the drain deadline and leaves nothing held', async () => {
    await using server = await start({ DRAIN_SECONDS: '1' });
    const { agent, completion } = await makeBusy(server, 'given up', { kind: 'silence' });
    completion.catch(() => {});
    const startedMs = performance.now();
    expect(await server.stop(), server.output()).toBe(0);
    expect(performance.now() - startedMs).toBeLessThan(10_000);
    await expect(completion).rejects.toThrow();
    expect(upstream.abandoned.count).toBe(1);

    const { money, ...rest } = await lookAfterwards(agent.agentId);
    expect(rest).toEqual(FINE);
    expect(money).toMatchObject({ charged: 0n, held: 0n, spendable: FUNDS });
  });

  it('a later SIGTERM ends a draining server at once, and the next start settles what was left', async () => {
    await using server = await start();
    const { agent, completion } = await makeBusy(server, 'hurried', { kind: 'silence' });
    completion.catch(() => {});
    server.child.kill('SIGTERM');
    await expect.poll(() => server.output()).toContain('stopping');
    // Told twice by one key press, as npm does it: still a drain.
    server.child.kill('SIGTERM');
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    expect([server.child.exitCode, server.child.signalCode]).toEqual([null, null]);
    server.child.kill('SIGTERM');
    expect(await server.exited).toBe('SIGTERM');

    await using next = await start();
    const sql = openSql(place.target, 1);
    await expect
      .poll(async () => (await moneyOf(sql, agent.agentId)).held, { timeout: 50_000 })
      .toBe(0n);
    expect(await checkInvariants(sql)).toEqual([]);
    await sql.end();
    expect(await next.stop(), next.output()).toBe(0);
  }, 120_000);
});
