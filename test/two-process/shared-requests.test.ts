import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApi } from '../../src/app/commands/demo/api.ts';
import { fundAgent } from '../../src/app/commands/demo/fund-agent.ts';
import { checkInvariants } from '../../src/ledger/store/check-invariants.ts';
import { openSql, type Sql } from '../../src/platform/postgres/sql.ts';
import { RATE_LIMITS } from '../../src/rate-limit/limits.ts';
import { type OpenAiUpstream, openAiUpstream, SHORT_USAGE } from '../support/openai-upstream.ts';
import {
  ADMIN_KEY,
  type ProcessPlace,
  processPlace,
  writeCatalogue,
} from '../support/process-place.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { ask, epochSeconds, settledMoney } from '../support/whole-world.ts';

const MODEL = 'acme/fast-1';
const ROUNDS = 20;
const RACERS = 6;

let place: ProcessPlace;
let upstream: OpenAiUpstream;
let servers: readonly [ServerProcess, ServerProcess];
let sql: Sql;
beforeAll(async () => {
  place = await processPlace();
  if (place.target.kind !== 'url') throw new Error('two processes need a PostgreSQL by URL');
  upstream = await openAiUpstream();
  upstream.usage = SHORT_USAGE;
  const catalogue = writeCatalogue(place.directory, MODEL, upstream.baseUrl);
  const environment = { ...place.environment, CATALOG_FILE: catalogue };
  servers = [await startServerProcess(environment), await startServerProcess(environment)];
  sql = openSql(place.target, 2);
});
afterAll(async () => {
  const codes = await Promise.all(servers.map((server) => server.stop()));
  const violations = await checkInvariants(sql);
  await sql.end();
  await upstream[Symbol.asyncDispose]();
  await place[Symbol.asyncDispose]();
  expect({ codes, violations }).toEqual({ codes: [0, 0], violations: [] });
});

const fund = (name: string) =>
  fundAgent(createApi(servers[0].url), {
    name,
    amountRaw: 100_000_000n,
    adminApiKey: ADMIN_KEY,
    nowSeconds: epochSeconds(),
    said: () => {},
  });

const buy = (server: ServerProcess | undefined, agentKey: string, key?: string) =>
  ask(`${server?.url}/v1/chat/completions`, {
    headers: {
      authorization: `Bearer ${agentKey}`,
      ...(key === undefined ? {} : { 'idempotency-key': key }),
    },
    body: { model: MODEL, messages: [{ role: 'user', content: 'hello' }], max_tokens: 16 },
  });

describe('two servers on one database', () => {
  it('two servers on one database run the work of one idempotency key once, however many requests come to both', async () => {
    const agent = await fund('racing');
    let chargedRaw = 0n;
    for (let round = 0; round < ROUNDS; round++) {
      const asked = Array.from({ length: RACERS }, (_, n) =>
        buy(servers[n % 2], agent.agentKey, `race ${round}`),
      );
      const answers = await Promise.all(asked);
      const first = answers.filter(
        ({ status, headers }) => status === 200 && !headers.has('x-svc-idempotent-replay'),
      );
      expect(first).toHaveLength(1);
      chargedRaw += BigInt(first[0]?.headers.get('x-svc-cost-usdc') ?? '-1');
      const others = answers.filter((answer) => answer !== first[0]);
      for (const { status, headers, body } of others) {
        if (status === 200) expect(headers.get('x-svc-idempotent-replay')).toBe('true');
        else expect([status, body.error]).toMatchObject([409, { code: 'request_in_flight' }]);
      }
      const late = await Promise.all(
        servers.map((server) => buy(server, agent.agentKey, `race ${round}`)),
      );
      for (const { body } of late) expect(body).toEqual(first[0]?.body);
    }
    expect(upstream.seen).toHaveLength(ROUNDS);
    const money = await settledMoney(sql, agent.agentId);
    expect(money.charged).toBe(chargedRaw);
  });

  it('two servers on one database together hold an agent’s rate limit within 5 %', async () => {
    const agent = await fund('hurried');
    const statuses: number[] = [];
    const remaining: number[] = [];
    const caller = async (server: ServerProcess) => {
      for (let n = 0; n < RATE_LIMITS.usual.gatewayPerMinute / 4; n++) {
        const { status, headers } = await buy(server, agent.agentKey);
        statuses.push(status);
        remaining.push(Number(headers.get('x-ratelimit-remaining')));
      }
    };
    const startedMs = performance.now();
    await Promise.all([0, 1, 0, 1, 0, 1, 0, 1].map((n) => caller(servers[n] as ServerProcess)));
    expect(performance.now() - startedMs, 'all within one window').toBeLessThan(55_000);
    const allowed = statuses.filter((status) => status === 200).length;
    expect(statuses.filter((status) => status === 429)).toHaveLength(statuses.length - allowed);
    expect(allowed).toBeGreaterThanOrEqual(RATE_LIMITS.usual.gatewayPerMinute * 0.95);
    expect(allowed).toBeLessThanOrEqual(RATE_LIMITS.usual.gatewayPerMinute * 1.05);
    expect(Math.min(...remaining)).toBe(0);
  });
});
