import { afterAll, beforeAll, expect, it } from 'vitest';
import { createApi } from '../../src/app/commands/demo/api.ts';
import { type FundedAgent, fundAgent } from '../../src/app/commands/demo/fund-agent.ts';
import { checkInvariants } from '../../src/ledger/store/check-invariants.ts';
import { openSql, type Sql, type SqlTransaction } from '../../src/platform/postgres/sql.ts';
import { type OpenAiUpstream, openAiUpstream, SHORT_USAGE } from '../support/openai-upstream.ts';
import {
  ADMIN_KEY,
  type ProcessPlace,
  processPlace,
  writeCatalogue,
} from '../support/process-place.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { ask, epochSeconds, settledMoney, type Told } from '../support/whole-world.ts';

const MODEL = 'acme/fast-1';
/** Two leases and a little: by then the dead are known and what they held is resolved. */
const DECIDED_WITHIN_MS = 60_000;

let place: ProcessPlace;
let upstream: OpenAiUpstream;
let environment: Record<string, string>;
let sql: Sql;
beforeAll(async () => {
  place = await processPlace();
  upstream = await openAiUpstream();
  upstream.usage = SHORT_USAGE;
  const catalogue = writeCatalogue(place.directory, MODEL, upstream.baseUrl);
  environment = { ...place.environment, CATALOG_FILE: catalogue };
});
afterAll(async () => {
  await sql.end({ timeout: 1 });
  await upstream[Symbol.asyncDispose]();
  await place[Symbol.asyncDispose]();
});

const fund = ({ url }: ServerProcess, name: string): Promise<FundedAgent> =>
  fundAgent(createApi(url), {
    name,
    amountRaw: 1_000_000n,
    adminApiKey: ADMIN_KEY,
    nowSeconds: epochSeconds(),
    said: () => {},
  });

const buy = ({ url }: ServerProcess, agent: FundedAgent): Promise<Told> =>
  ask(`${url}/v1/chat/completions`, {
    headers: { authorization: `Bearer ${agent.agentKey}`, 'idempotency-key': 'the key' },
    body: { model: MODEL, messages: [{ role: 'user', content: agent.agentKey }], max_tokens: 16 },
  });

/** How often the upstream was asked for an agent. */
const askedFor = (agent: FundedAgent): number =>
  upstream.seen.filter(({ body }) => JSON.stringify(body).includes(agent.agentKey)).length;

/** Keeps what `lock` takes until it is let go, or until the database goes away with it. */
async function keepLocked(lock: (tx: SqlTransaction) => Promise<unknown>) {
  let letGo = () => {};
  const kept = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  let isLocked = () => {};
  const locked = new Promise<void>((resolve) => {
    isLocked = resolve;
  });
  const over = sql
    .begin(async (tx) => {
      await lock(tx);
      isLocked();
      await kept;
    })
    .catch(() => {});
  await locked;
  return () => {
    letGo();
    return over;
  };
}

const keyOf = async ({ agentId }: FundedAgent) => {
  const [row] = await sql<{ work_id: string; state: string }[]>`
    select work_id, state from idempotency_keys where owner = ${`agent:${agentId}`}`;
  return row;
};
/** How many statements wait for a row that another transaction has taken. */
const waiting = async () => {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`;
  return row?.count;
};
const codeOf = async (postingId: string) => {
  const [row] = await sql<{ code: string }[]>`select code from postings where id = ${postingId}`;
  return row?.code;
};

/** Asks until the key is decided; every answer before that is the 409 of a key in flight. */
async function untilDecided(server: ServerProcess, agent: FundedAgent): Promise<Told> {
  const deadline = performance.now() + DECIDED_WITHIN_MS;
  for (;;) {
    const told = await buy(server, agent);
    if (told.status !== 409) return told;
    expect(told.body).toMatchObject({
      idempotency_key: 'the key',
      error: { code: 'request_in_flight' },
    });
    if (performance.now() > deadline) throw new Error('the key was never decided');
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}

it('a request under an idempotency key whose process is killed runs again only where it was not charged', async () => {
  await using dying = await startServerProcess(environment);
  sql = openSql(place.target, 6);
  const unheld = await fund(dying, 'before its hold');
  const held = await fund(dying, 'while it waits for the upstream');
  const charged = await fund(dying, 'after it was charged');
  const lost: Promise<unknown>[] = [];
  const send = (agent: FundedAgent) => lost.push(buy(dying, agent).catch(() => 'lost'));

  // The first never gets as far as its hold: its agent's row is taken.
  const unlockFunds = await keepLocked(
    (tx) => tx`select 1 from agent_funds where agent_id = ${unheld.agentId} for update`,
  );
  send(unheld);
  await expect.poll(() => keyOf(unheld)).toMatchObject({ state: 'in_flight' });

  upstream.faults.push({ kind: 'silence' });
  send(held);
  await expect.poll(() => askedFor(held)).toBe(1);

  // The third is charged, but its answer cannot be kept: the row of its key is taken.
  upstream.faults.push({ kind: 'late', byMs: 500 });
  send(charged);
  await expect.poll(() => askedFor(charged)).toBe(1);
  const unlockKey = await keepLocked(
    (tx) => tx`
      select 1 from idempotency_keys where owner = ${`agent:${charged.agentId}`} for update`,
  );
  const works = { held: await keyOf(held), charged: await keyOf(charged) };
  const resolved = `resolve:${works.charged?.work_id}`;
  await expect.poll(() => codeOf(resolved)).toBe('hold.settle');
  // The statement that keeps the answer is sent after that: one still on its way would outlive the kill.
  await expect.poll(waiting).toBe(2);

  // What the dead process had sent must not be carried out once the rows are free: it ends before
  // the process does, because an embedded database goes away with it and frees the rows in doing so.
  dying.child.kill('SIGSTOP');
  await sql`select pg_terminate_backend(pid, 5000) from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`;
  await dying.kill();
  await Promise.all([unlockFunds(), unlockKey(), ...lost]);

  await using heir = await startServerProcess(environment);
  expect(await keyOf(charged)).toMatchObject({ state: 'in_flight' });
  for (const agent of [unheld, held, charged]) {
    expect((await buy(heir, agent)).body).toMatchObject({ error: { code: 'request_in_flight' } });
  }
  const answers = await Promise.all(
    [unheld, held, charged].map((agent) => untilDecided(heir, agent)),
  );
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 502]);
  expect([unheld, held, charged].map(askedFor)).toEqual([1, 2, 1]);
  expect(await codeOf(`resolve:${works.held?.work_id}`)).toBe('hold.release');

  const told = answers[2];
  expect(told?.headers.get('x-should-retry')).toBe('false');
  expect(told?.body).toMatchObject({
    hold: works.charged?.work_id,
    error: { type: 'upstream_error', code: 'upstream_paid_request_failed_ambiguous' },
  });
  const again = await Promise.all([unheld, held, charged].map((agent) => buy(heir, agent)));
  expect(again.map(({ body }) => body)).toEqual(answers.map(({ body }) => body));
  expect(again.map(({ headers }) => headers.get('x-svc-idempotent-replay'))).toEqual([
    'true',
    'true',
    'true',
  ]);
  expect([unheld, held, charged].map(askedFor)).toEqual([1, 2, 1]);

  for (const [n, agent] of [unheld, held, charged].entries()) {
    const money = await settledMoney(sql, agent.agentId);
    const cost = answers[n]?.headers.get('x-svc-cost-usdc') ?? answers[n]?.body.charged;
    expect(money.charged).toBe(BigInt(String(cost)));
    expect(money.spendable).toBe(money.credited - money.charged);
  }
  expect(await checkInvariants(sql)).toEqual([]);
  expect(await heir.stop()).toBe(0);
}, 180_000);
