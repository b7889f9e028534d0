import { expect, it } from 'vitest';
import { createApi } from '../../src/app/commands/demo/api.ts';
import { fundAgent } from '../../src/app/commands/demo/fund-agent.ts';
import { checkInvariants } from '../../src/ledger/store/check-invariants.ts';
import { openSql, type Sql } from '../../src/platform/postgres/sql.ts';
import { SIM_ACCOUNT } from '../support/carrier-sim/options.ts';
import { startCarrierSim } from '../support/carrier-sim/start-carrier-sim.ts';
import { ADMIN_KEY, processPlace } from '../support/process-place.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { ask, epochSeconds, settledMoney } from '../support/whole-world.ts';

const PUBLIC = 'https://voice.example';
const TO = '+14155550199';
/** At each of these times after it was placed, the process of a call is killed. */
const KILLS_MS = [0, 60, 150, 400, 900, 1_600, 2_600];

/** Two server processes on one database, behind a carrier whose callbacks go to the one that lives. */
async function world() {
  const place = await processPlace();
  if (place.target.kind !== 'url')
    throw new Error('set TEST_DATABASE_URL for the two-process tests');
  let target: ServerProcess | undefined;
  const reach = (url: string) =>
    url
      .replace(PUBLIC, target?.url ?? '')
      .replace(PUBLIC.replace('https', 'wss'), (target?.url ?? '').replace('http', 'ws'));
  const sim = await startCarrierSim({
    numbers: Array.from({ length: 40 }, (_, n) => `+1415555${5_000 + n}`),
    callee: () => ({ ringMs: 100, hangsUpAtMs: 6_000 }),
    reach,
  });
  const environment = {
    ...place.environment,
    PHONE_CARRIER: 'twilio',
    TWILIO_ACCOUNT_SID: SIM_ACCOUNT.accountSid,
    TWILIO_AUTH_TOKEN: SIM_ACCOUNT.authToken,
    TWILIO_BASE_URL: sim.baseUrl,
    PUBLIC_URL: PUBLIC,
  };
  const start = () => startServerProcess(environment);
  const sql = openSql(place.target, 4);
  return {
    sim,
    sql,
    start,
    aim(server: ServerProcess) {
      target = server;
    },
    async [Symbol.asyncDispose]() {
      await sim[Symbol.asyncDispose]();
      await sql.end({ timeout: 1 });
      await place[Symbol.asyncDispose]();
    },
  };
}

const endedEvents = (sql: Sql, callId: string) =>
  sql<{ payload: Record<string, string> }[]>`
    select payload from events where correlation_id = ${callId} and name = 'call.ended'`;

it('a call whose process is killed at any moment is settled once, and most go on at the other process', async () => {
  await using w = await world();
  const { sim, sql } = w;
  let dying = await w.start();
  let goesOn = 0;
  const kept = await w.start();
  const fund = async (name: string) => {
    const agent = await fundAgent(createApi(kept.url), {
      name,
      amountRaw: 6_000_000n,
      adminApiKey: ADMIN_KEY,
      nowSeconds: epochSeconds(),
      said: () => {},
    });
    const headers = { authorization: `Bearer ${agent.agentKey}` };
    const bought = await ask(`${kept.url}/v1/numbers`, { headers, body: { areaCode: '415' } });
    expect(bought.status).toBe(201);
    await sql`insert into voice_settings (agent_id, begin_message)
      values (${agent.agentId}, 'Hello, this is your agent speaking to you.')`;
    return { ...agent, headers };
  };

  for (const [n, killMs] of KILLS_MS.entries()) {
    const agent = await fund(`agent ${n}`);
    w.aim(dying);
    const placing = ask(`${dying.url}/v1/calls`, {
      headers: agent.headers,
      body: { toNumber: TO },
    }).catch(() => undefined);
    if (killMs > 0) await placing;
    await new Promise((resolve) => setTimeout(resolve, killMs));
    // As behind a load balancer that knows of the death at once.
    w.aim(kept);
    const [, next] = await Promise.all([dying.kill(), w.start()]);
    dying = next;
    await placing;
    const [row] = await sql<
      { id: string }[]
    >`select id from calls where agent_id = ${agent.agentId}`;
    if (row === undefined) continue;
    await expect
      .poll(
        async () => {
          await sql`update calls set due_at = least(due_at, now() + interval '1 second')
            where id = ${row.id} and not terminal`;
          return (await sql`select terminal from calls where id = ${row.id}`)[0]?.terminal;
        },
        { timeout: 90_000, interval: 500 },
      )
      .toBe(true);
    const [call] = await sql<
      Record<string, bigint & string>[]
    >`select * from calls where id = ${row.id}`;
    const ended = await endedEvents(sql, row.id);
    const wasAnswered = call?.started_at !== null;
    expect(ended.length, `killed after ${killMs} ms`).toBe(wasAnswered ? 1 : 0);
    if (Number(call?.streams_opened) > 1) goesOn++;
    const [legs] = await sql<{ raw: bigint }[]>`
      select coalesce(sum(cost_raw), 0)::bigint as raw from charges
      where session_id = ${row.id} and target_url like 'phone://%'`;
    const receipt = ended[0]?.payload;
    const told = ['transportRaw', 'sttRaw', 'ttsRaw'].map((leg) => BigInt(receipt?.[leg] ?? 0));
    expect(told.reduce((sum, raw) => sum + raw, 0n)).toBe(legs?.raw);
  }
  // Holds of models that a dead process had open are released once its lease is over.
  await expect
    .poll(async () => Number((await sql`select count(*)::int as open from holds`)[0]?.open), {
      timeout: 90_000,
      interval: 1_000,
    })
    .toBe(0);
  const agents = await sql<{ id: number }[]>`select id from agents`;
  for (const { id } of agents) {
    const money = await settledMoney(sql, id);
    expect(money.spendable).toBe(money.credited - money.charged);
  }
  expect(goesOn).toBeGreaterThanOrEqual(3);
  expect(sim.calls.length).toBeGreaterThanOrEqual(KILLS_MS.length - 1);
  expect(await checkInvariants(sql)).toEqual([]);
  await dying.kill();
  expect(await kept.stop()).toBe(0);
}, 400_000);
