import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { checkInvariants } from '../../src/ledger/store/check-invariants.ts';
import type { Callee } from '../../src/phone/carriers/loopback/loopback-line.ts';
import { AskingCallee } from '../support/asking-callee.ts';
import { phoneSpeech } from '../support/phone-speech.ts';
import { QuietCallee, rentNumber } from '../support/phone-world.ts';
import { readEvents } from '../support/sse-reader.ts';
import { ask, newDeveloper, startWorld, type WholeWorld } from '../support/whole-world.ts';

const TO = '+14155550199';
const callees = new Map<string, Callee>();

let world: WholeWorld;
beforeAll(async () => {
  world = await startWorld(
    {},
    { calleeOf: async ({ from }) => callees.get(from) ?? new QuietCallee() },
  );
});
afterAll(() => world[Symbol.asyncDispose]());

async function caller(name: string) {
  const developer = await newDeveloper(world.api, name);
  const agentId = await developer.createAgent(name);
  await ask(`${world.url}/v1/admin/agents/${agentId}/credit`, {
    headers: { 'x-admin-key': world.adminApiKey },
    body: { amountRaw: '5000000', reference: `funds-${agentId}` },
  });
  const { key, keyId } = await developer.mintKey(agentId);
  const number = `+1415555${String(1_000 + agentId).slice(0, 4)}`;
  await rentNumber(world.sql, agentId, number);
  const headers = { authorization: `Bearer ${key}` };
  const at = (callId: string, path = '') => `${world.url}/v1/calls/${callId}${path}`;
  const status = async (callId: string) => (await ask(at(callId), { headers })).body.status;
  const place = async (callee: Callee = new QuietCallee()) => {
    callees.set(number, callee);
    const { body } = await ask(`${world.url}/v1/calls`, { headers, body: { toNumber: TO } });
    return String(body.callId);
  };
  const answered = async (callee?: Callee) => {
    const callId = await place(callee);
    await until(() => status(callId), 'in_progress');
    return callId;
  };
  const post = (callId: string, path: string, body: object = {}, more: object = {}) =>
    ask(at(callId, path), { method: 'POST', headers: { ...headers, ...more }, body });
  const hangUp = async (callId: string) => {
    await post(callId, '/hangup');
    const isOver = async () => (await ask(at(callId), { headers })).body.terminal;
    await until(isOver, true);
  };
  return { agentId, answered, at, developer, hangUp, headers, keyId, place, post };
}

/** Waits until a value is the expected one; `expect.poll` does not know tests that run side by side. */
const until = (look: () => unknown, expected: unknown) =>
  vi.waitFor(async () => expect(await look()).toEqual(expected), { timeout: 25_000, interval: 50 });

const turnsOf = (stream: Awaited<ReturnType<typeof readEvents>>) =>
  stream.of('turn').map(({ data: { role, text } }) => `${role}: ${text}`);

describe.concurrent('the events of a call', () => {
  it('a reader of call events who joins while the call rings gets its words, turns, cost and state to the end', async () => {
    const agent = await caller('followed');
    const callId = await agent.place(
      new AskingCallee(await phoneSpeech('What is my balance?'), { answerFrames: 60 }),
    );
    await using stream = await readEvents(agent.at(callId, '/events'), agent.headers);
    await stream.ended;
    const turns = stream.of('turn');
    expect(turns.map(({ data }) => data.role)).toEqual(
      expect.arrayContaining(['user', 'assistant']),
    );
    expect(turns.map(({ id }) => Number(id))).toEqual(turns.map((_, n) => n + 1));
    const spoken = stream.of('transcript').filter(({ data }) => data.role === 'assistant');
    expect(spoken.length).toBeGreaterThan(0);
    const costs = stream.of('cost').map(({ data }) => BigInt(String(data.costRaw)));
    expect(costs).toEqual(costs.toSorted((a, b) => Number(a - b)));
    const [charged] = await world.sql<{ raw: bigint }[]>`
      select sum(cost_raw)::bigint as raw from charges where session_id = ${callId}`;
    expect(costs.at(-1)).toBe(charged?.raw);
    expect(stream.of('status').map(({ data }) => data)).toMatchObject([
      ...[{ status: 'pending' }, { status: 'in_progress', terminal: false }].slice(
        stream.of('status')[0]?.data.status === 'pending' ? 0 : 1,
      ),
      { status: 'completed', terminal: true, endReason: 'call_ended' },
    ]);
    expect(stream.events.at(-1)?.type).toBe('status');
  }, 60_000);

  it("a management key reads the events of its own agents' calls, and no other credential does", async () => {
    const [agent, other] = [await caller('shown'), await caller('stranger')];
    const callId = await agent.answered();
    await using stream = await readEvents(agent.at(callId, '/events'), agent.developer.headers);
    await until(() => stream.of('status').length, 1);
    for (const headers of [other.headers, other.developer.headers]) {
      expect(await ask(agent.at(callId, '/events'), { headers })).toMatchObject({
        status: 404,
        body: { error: 'not_found' },
      });
    }
    expect((await ask(agent.at(callId, '/events'))).status).toBe(401);
    await agent.hangUp(callId);
    await stream.ended;
  });

  it('a reader of call events who reconnects does not get the turns again', async () => {
    const agent = await caller('again');
    const callId = await agent.answered();
    await using first = await readEvents(agent.at(callId, '/events'), agent.headers);
    await agent.post(callId, '/say', { text: 'Number one.' });
    await until(() => turnsOf(first), ['assistant: Number one.']);
    await agent.post(callId, '/say', { text: 'Number two.' });
    await until(() => turnsOf(first).length, 2);
    await using second = await readEvents(agent.at(callId, '/events'), {
      ...agent.headers,
      'last-event-id': first.of('turn')[0]?.id ?? '',
    });
    await until(() => turnsOf(second), ['assistant: Number two.']);
    await agent.hangUp(callId);
  });

  it('a call has at most 8 readers of its events at a time', async () => {
    const agent = await caller('crowd');
    const callId = await agent.answered();
    const streams = [];
    for (let n = 0; n < 8; n++) {
      streams.push(await readEvents(agent.at(callId, '/events'), agent.headers));
    }
    const more = () => ask(agent.at(callId, '/events'), { headers: agent.headers });
    expect(await more()).toMatchObject({ status: 429, body: { error: 'reader_limit', limit: 8 } });
    await streams.pop()?.[Symbol.asyncDispose]();
    const isAdmitted = async () => {
      const stream = await readEvents(agent.at(callId, '/events'), agent.headers).catch(
        () => undefined,
      );
      if (stream !== undefined) streams.push(stream);
      return stream !== undefined;
    };
    await until(isAdmitted, true);
    await agent.hangUp(callId);
    await Promise.all(streams.map(({ ended }) => ended));
  });

  it('a stream of call events ends within seconds once the key of its reader is revoked', async () => {
    const agent = await caller('revoked');
    const { key, keyId } = await agent.developer.mintKey(agent.agentId);
    const callId = await agent.answered();
    const headers = { authorization: `Bearer ${key}` };
    await using stream = await readEvents(agent.at(callId, '/events'), headers);
    await ask(`${world.url}/v1/developer/agents/${agent.agentId}/keys/${keyId}`, {
      method: 'DELETE',
      headers: agent.developer.headers,
    });
    await stream.ended;
    expect(stream.of('status').every(({ data }) => data.terminal === false)).toBe(true);
    await agent.hangUp(callId);
  });

  it('a stream of call events ends within seconds once the member who reads it is removed', async () => {
    const agent = await caller('with a reader');
    const reader = await newDeveloper(world.api, 'reading member');
    const signed = await reader.sign();
    const wallet = String(signed['x-wallet-address']).toLowerCase();
    const [owner] = await world.sql<{ accountId: string }[]>`
      select account_id as "accountId" from agents where id = ${agent.agentId}`;
    const accountId = String(owner?.accountId);
    await world.sql`
      insert into members (account_id, wallet, role, email, invited_by)
      values (${accountId}, ${wallet}, 'viewer', 'reader@example.com', ${wallet})`;
    const callId = await agent.answered();
    const headers = { ...signed, 'x-svc-account': accountId };
    await using stream = await readEvents(agent.at(callId, '/events'), headers);
    const removed = await ask(`${world.url}/v1/developer/team/members/${wallet}`, {
      method: 'DELETE',
      headers: agent.developer.headers,
    });
    expect(removed.body).toEqual({ ok: true, memberWallet: wallet, revokedKeys: 0 });
    await stream.ended;
    expect(stream.of('status').every(({ data }) => data.terminal === false)).toBe(true);
    await agent.hangUp(callId);
  });
});

describe.concurrent('a command of a live call', () => {
  it('a text command to a live call is spoken once under one Idempotency-Key, and is charged by its characters', async () => {
    const agent = await caller('sayer');
    const callId = await agent.answered();
    await using stream = await readEvents(agent.at(callId, '/events'), agent.headers);
    const once = { 'idempotency-key': 'one text' };
    const answers = [];
    for (let n = 0; n < 2; n++) {
      answers.push(await agent.post(callId, '/say', { text: 'Your car is ready.' }, once));
    }
    expect(answers).toMatchObject([
      { status: 202, body: { callId, status: 'accepted' } },
      { status: 202, body: { callId, status: 'accepted' } },
    ]);
    await until(() => turnsOf(stream), ['assistant: Your car is ready.']);
    await agent.hangUp(callId);
    await stream.ended;
    expect(turnsOf(stream)).toHaveLength(1);
    const [speech] = await world.sql<{ raw: bigint }[]>`
      select tts_raw as raw from calls where id = ${callId}`;
    expect(speech?.raw).toBe(BigInt(Math.ceil((18 * 52_500) / 1_000)));
    const left = await world.sql`select from call_commands where call_id = ${callId}`;
    expect(left).toHaveLength(0);
  });

  it('a command to a call that rings, is over or is of another agent is refused with the reason', async () => {
    const [agent, other] = [await caller('early'), await caller('nosy')];
    const callId = await agent.answered();
    const text = { text: 'Hello.' };
    expect((await other.post(callId, '/say', text)).status).toBe(404);
    expect((await other.post(callId, '/hangup')).status).toBe(404);
    await agent.hangUp(callId);
    expect((await agent.post(callId, '/inject', { text: '\0' })).status).toBe(400);
    for (const path of ['/say', '/inject']) {
      expect(await agent.post(callId, path, text)).toMatchObject({
        status: 409,
        body: { error: 'call_over' },
      });
    }
    expect(await agent.post(callId, '/transfer', { to: '+14155550101' })).toMatchObject({
      status: 409,
    });
    expect((await agent.post(callId, '/say', { text: ' ' })).status).toBe(400);
    await world.sql`update calls set status = 'pending', terminal = false where id = ${callId}`;
    expect(await agent.post(callId, '/say', text)).toMatchObject({
      status: 409,
      body: { error: 'call_not_answered' },
    });
    await world.sql`update calls set status = 'completed', terminal = true where id = ${callId}`;
  });

  it('a transfer to a number that may not be called is refused, and the call goes on', async () => {
    const agent = await caller('wrong');
    const callId = await agent.answered();
    for (const to of ['911', '+442071838750', 'sip:a@b']) {
      expect(await agent.post(callId, '/transfer', { to })).toMatchObject({
        status: 400,
        body: { error: 'invalid_to_number' },
      });
    }
    expect((await ask(agent.at(callId), { headers: agent.headers })).body.status).toBe(
      'in_progress',
    );
    await agent.hangUp(callId);
  });

  it('a call takes 200 commands at most, and a management key can still hang it up', async () => {
    const agent = await caller('owner');
    const callId = await agent.answered();
    await world.sql`insert into call_commands (call_id, command, taken_at)
      select ${callId}, '{"kind":"none"}'::jsonb, now() from generate_series(1, 200)`;
    expect(await agent.post(callId, '/say', { text: 'One more.' })).toMatchObject({
      status: 409,
      body: { error: 'command_limit', limit: 200 },
    });
    const { headers } = agent.developer;
    expect(await ask(agent.at(callId, '/hangup'), { method: 'POST', headers })).toMatchObject({
      status: 202,
    });
    await agent.hangUp(callId);
  });
});

it('the ledger invariants hold after all live call commands', async () => {
  expect(await checkInvariants(world.sql)).toEqual([]);
});
