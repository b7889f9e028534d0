import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { checkInvariants } from '../../src/ledger/store/check-invariants.ts';
import type { Callee } from '../../src/phone/carriers/loopback/loopback-line.ts';
import { AskingCallee } from '../support/asking-callee.ts';
import { phoneSpeech } from '../support/phone-speech.ts';
import { QuietCallee, rentNumber } from '../support/phone-world.ts';
import { ask, settledMoney, startWorld, type WholeWorld } from '../support/whole-world.ts';

const TO = '+14155550199';

/** Who answers the calls of a number; a quiet person where there is none. */
const callees = new Map<string, Callee>();

let world: WholeWorld;
beforeAll(async () => {
  world = await startWorld(
    {},
    { calleeOf: async ({ from }) => callees.get(from) ?? new QuietCallee() },
  );
});
afterAll(() => world[Symbol.asyncDispose]());

async function caller(name: string, amountRaw = 5_000_000n) {
  const agent = await world.fund(name, amountRaw);
  const number = `+1415555${String(1_000 + agent.agentId).slice(0, 4)}`;
  await rentNumber(world.sql, agent.agentId, number);
  const headers = { authorization: `Bearer ${agent.agentKey}` };
  const place = (body: object = {}, more: Record<string, string> = {}) =>
    ask(`${world.url}/v1/calls`, {
      headers: { ...headers, ...more },
      body: { toNumber: TO, ...body },
    });
  const read = (callId: string) => ask(`${world.url}/v1/calls/${callId}`, { headers });
  const hangUp = (callId: string) =>
    ask(`${world.url}/v1/calls/${callId}/hangup`, { headers, method: 'POST' });
  const until = (callId: string, state: object) =>
    vi.waitFor(async () => expect((await read(callId)).body).toMatchObject(state), {
      timeout: 110_000,
      interval: 100,
    });
  return { ...agent, headers, number, place, read, hangUp, until };
}

const eventsOf = async (callId: string) =>
  (
    await world.sql<{ name: string; payload: Record<string, unknown> }[]>`
      select name, payload from events where correlation_id = ${callId} order by id`
  ).map(({ name, payload }): Record<string, unknown> => ({ name, ...payload }));

describe.concurrent('a call', () => {
  it("a phone call runs on a model of the catalogue, and its receipt has the ledger's charge for each leg", async () => {
    const agent = await caller('talker');
    callees.set(agent.number, new AskingCallee(await phoneSpeech('What is my balance?')));
    const placed = await agent.place({}, { 'x-svc-task-id': 'Errand' });
    expect(placed).toMatchObject({
      status: 201,
      body: { from: agent.number, to: TO, status: 'queued', taskId: 'errand' },
    });
    const callId = String(placed.body.callId);
    expect(callId).toMatch(/^CA[0-9a-f]{32}$/);
    await agent.until(callId, { status: 'completed', terminal: true });

    const charges = await world.sql<{ target_url: string; cost_raw: bigint; task_id: string }[]>`
      select target_url, cost_raw, task_id from charges where agent_id = ${agent.agentId}`;
    const target = `phone://${agent.number}/call/${callId}`;
    const costOf = (url: string) =>
      charges.find(({ target_url }) => target_url === url)?.cost_raw ?? 0n;
    expect(new Set(charges.map(({ task_id }) => task_id))).toEqual(new Set(['errand']));
    const [started, ended] = await eventsOf(callId);
    expect(started).toMatchObject({ name: 'call.started', callId, direction: 'outbound', to: TO });
    expect(ended).toMatchObject({
      name: 'call.ended',
      reason: 'call_ended',
      transportRaw: String(costOf(target)),
      sttRaw: String(costOf(`${target}/stt`)),
      ttsRaw: String(costOf(`${target}/tts`)),
      taskId: 'errand',
    });
    // The line by its second, the speech by its character, and a model at its price.
    const seconds = Number(ended?.durationSeconds);
    expect(costOf(target)).toBe((14_700n * BigInt(seconds) + 59n) / 60n);
    expect(costOf(`${target}/tts`)).toBeGreaterThan(0n);
    expect(costOf(`${target}/stt`)).toBeGreaterThan(0n);
    expect(costOf('gateway://local/guide')).toBeGreaterThan(0n);
    const money = await settledMoney(world.sql, agent.agentId);
    expect(money.charged).toBe(charges.reduce((sum, { cost_raw }) => sum + cost_raw, 0n));
    expect(await checkInvariants(world.sql)).toEqual([]);
  }, 120_000);

  it('a phone call whose hold covers less than the longest answer hears the caller and answers', async () => {
    const agent = await caller('frugal');
    callees.set(agent.number, new AskingCallee(await phoneSpeech('What is my balance?')));
    const { body } = await agent.place({ maxSpendRaw: '100000', report: true });
    const callId = String(body.callId);
    await agent.until(callId, { status: 'completed', endReason: 'call_ended' });
    const report = await ask(`${world.url}/v1/calls/${callId}/report`, { headers: agent.headers });
    const { transcript } = report.body as { transcript: { role: string }[] };
    expect(transcript.map(({ role }) => role)).toEqual(
      expect.arrayContaining(['user', 'assistant']),
    );
  }, 120_000);

  it('a phone call ends when its agent hangs up, and a second hang-up finds it ended', async () => {
    const agent = await caller('hanger');
    const { callId } = (await agent.place()).body as { callId: string };
    await agent.until(callId, { status: 'in_progress', terminal: false });
    expect(await agent.hangUp(callId)).toMatchObject({ status: 202, body: { status: 'ending' } });
    await agent.until(callId, { status: 'completed', terminal: true });
    expect(await agent.hangUp(callId)).toMatchObject({
      status: 200,
      body: { callId, status: 'completed', terminal: true },
    });
    const [, ended] = await eventsOf(callId);
    expect(ended).toMatchObject({ name: 'call.ended', reason: 'agent_ended' });
  });

  it('a phone call of another agent reads as pending, and cannot be hung up', async () => {
    const [owner, other] = [await caller('owner'), await caller('other')];
    const { callId } = (await owner.place()).body as { callId: string };
    expect((await other.read(callId)).body).toEqual({
      callId,
      status: 'pending',
      terminal: false,
      endReason: null,
    });
    expect((await other.hangUp(callId)).status).toBe(404);
    await owner.hangUp(callId);
    await owner.until(callId, { terminal: true });
  });

  it('a phone call is placed once under one Idempotency-Key', async () => {
    const agent = await caller('repeater');
    const key = { 'idempotency-key': 'one call' };
    const [first, second] = [await agent.place({}, key), await agent.place({}, key)];
    expect(second.body).toEqual(first.body);
    const { callId } = first.body as { callId: string };
    await agent.hangUp(callId);
    await agent.until(callId, { terminal: true });
    const rows = await world.sql`select id from calls where agent_id = ${agent.agentId}`;
    expect(rows).toHaveLength(1);
  });

  it('a phone call ends by itself when its hold is used up, and costs no more than that', async () => {
    const agent = await caller('small');
    const { callId } = (await agent.place({ maxSpendRaw: '19200' })).body as { callId: string };
    await agent.until(callId, { terminal: true, status: 'completed' });
    const [, ended] = await eventsOf(callId);
    expect(ended).toMatchObject({ reason: 'reserve_exhausted' });
    const { charged } = await settledMoney(world.sql, agent.agentId);
    expect(charged).toBeLessThanOrEqual(19_200n);
    expect(charged).toBeGreaterThan(0n);
    // It is over once its last words were heard, and its line costs the time that it took and no more.
    const [passed] = await world.sql<{ seconds: number }[]>`
      select extract(epoch from ended_at - started_at)::float8 as seconds from calls where id = ${callId}`;
    expect(Number(ended?.durationSeconds)).toBeLessThanOrEqual(Math.ceil(passed?.seconds ?? 0));
    // The row ends when the call is settled: on a busy machine some seconds after the line.
    expect(Number(ended?.durationSeconds)).toBeGreaterThanOrEqual((passed?.seconds ?? 0) - 5);
  }, 120_000);
});

describe.concurrent('a call is not placed', () => {
  const refused = async (
    agent: Awaited<ReturnType<typeof caller>>,
    answer: Promise<{ status: number; body: Record<string, unknown> }>,
    expected: object,
  ) => {
    expect(await answer).toMatchObject(expected);
    const rows = await world.sql`select id from calls where agent_id = ${agent.agentId}`;
    expect(rows).toHaveLength(0);
  };

  it('a phone call is not placed without a balance for one minute', async () => {
    const agent = await caller('poor', 1_000n);
    await refused(agent, agent.place(), { status: 403, body: { error: 'insufficient_balance' } });
  });

  it('a phone call is not placed with a limit that does not cover one minute', async () => {
    const agent = await caller('stingy');
    await refused(agent, agent.place({ maxSpendRaw: '19199' }), {
      status: 400,
      body: {
        error: 'max_spend_too_low',
        required: '19200',
        message:
          'maxSpendRaw is 19199; one minute of the call needs 19200. Raise it or leave it out.',
      },
    });
  });

  it('a phone call is not placed to an invalid number', async () => {
    const agent = await caller('misdialler');
    for (const toNumber of ['911', '4155550199', '+0123456789', 'sip:a@b']) {
      await refused(agent, agent.place({ toNumber }), {
        status: 400,
        body: { error: 'invalid_to_number' },
      });
    }
  });

  it('a phone call is not placed by an agent without a number', async () => {
    const agent = await world.fund('numberless');
    const headers = { authorization: `Bearer ${agent.agentKey}` };
    const answer = await ask(`${world.url}/v1/calls`, { headers, body: { toNumber: TO } });
    expect(answer).toMatchObject({ status: 409, body: { error: 'number_required' } });
  });

  it('a phone call is not placed under a task whose policy is used up', async () => {
    const agent = await caller('capped');
    const policy = await ask(`${world.url}/v1/agents/policies`, {
      headers: agent.headers,
      body: { kind: 'task', matchKey: 'errand', limitRaw: '1000', windowKind: 'once' },
    });
    expect(policy.status).toBe(201);
    await refused(agent, agent.place({}, { 'x-svc-task-id': 'errand' }), {
      status: 403,
      body: { error: 'policy_exceeded' },
    });
  });

  it('a phone call is not placed beside the maximum of concurrent calls of the agent', async () => {
    const agent = await caller('busy', 20_000_000n);
    const placed = [await agent.place(), await agent.place(), await agent.place()];
    expect(placed.map(({ status }) => status)).toEqual([201, 201, 201]);
    expect(await agent.place()).toMatchObject({
      status: 429,
      body: { error: 'call_limit', limit: 3, active: 3 },
    });
    for (const { body } of placed) await agent.hangUp(String(body.callId));
    for (const { body } of placed) await agent.until(String(body.callId), { terminal: true });
  });
});

it.concurrent('a phone call whose task has less left than the hold is refused at its answer, and costs nothing', async () => {
  const agent = await caller('task');
  await ask(`${world.url}/v1/agents/policies`, {
    headers: agent.headers,
    body: { kind: 'task', matchKey: 'small', limitRaw: '1500000', windowKind: 'once' },
  });
  const { callId } = (await agent.place({}, { 'x-svc-task-id': 'small' })).body as {
    callId: string;
  };
  await agent.until(callId, { status: 'failed', terminal: true });
  expect(await eventsOf(callId)).toMatchObject([
    { name: 'call.ended', reason: 'budget_exhausted', durationSeconds: 0, transportRaw: '0' },
  ]);
  expect((await settledMoney(world.sql, agent.agentId)).charged).toBe(0n);
});
