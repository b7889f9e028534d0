import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MODEL_LIMITS } from '../../src/models/limits.ts';
import type { Callee } from '../../src/phone/carriers/loopback/loopback-line.ts';
import { AskingCallee } from '../support/asking-callee.ts';
import { callEvents, expectBalanced } from '../support/call-receipts.ts';
import { phoneSpeech } from '../support/phone-speech.ts';
import { QuietCallee, rentNumber } from '../support/phone-world.ts';
import { agentWithStoredKey } from '../support/stored-key.ts';
import { type StreamUpstream, streamUpstream } from '../support/stream-upstream.ts';
import { ask, settledMoney, startWorld, type WholeWorld } from '../support/whole-world.ts';

const directory = mkdtempSync(join(tmpdir(), 'svc-opening-'));
const callees = new Map<string, Callee>();
let upstream: StreamUpstream;
let world: WholeWorld;

/** `acme` has no key of this server, a turn of `dear` costs more than a minute of a call, and `mute` speaks no chat. */
function catalogue(): string {
  const { baseUrl } = upstream;
  const providers = {
    acme: { baseUrl, dialect: 'openai', apiKeyEnv: 'ACME_KEY' },
    dear: { baseUrl, dialect: 'openai' },
    mute: { baseUrl, dialect: 'openai-realtime' },
  };
  const models = Object.keys(providers).map((provider) => {
    const price = provider === 'dear' ? '50000' : '1';
    const rates = { text_input_token: '1', text_output_token: price };
    const source = { rail: 'direct-account', provider, upstreamModel: 'talker', rates };
    return { id: `${provider}/talker`, modality: 'text', sources: [source] };
  });
  const path = join(directory, 'catalogue.json');
  writeFileSync(path, JSON.stringify({ providers, models }));
  return path;
}

beforeAll(async () => {
  upstream = await streamUpstream();
  world = await startWorld(
    { CATALOG_FILE: catalogue() },
    { calleeOf: async ({ from }) => callees.get(from) ?? new QuietCallee() },
  );
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true });
});

type Agent = { readonly agentId: number; readonly key: string };

/** An agent that has a number and talks with this model. */
async function talksWith(model: string | null, { agentId, key }: Agent) {
  const number = `+1415555${String(5_000 + agentId).slice(0, 4)}`;
  await rentNumber(world.sql, agentId, number);
  await world.sql`insert into voice_settings (agent_id, model) values (${agentId}, ${model})`;
  const headers = { authorization: `Bearer ${key}` };
  return {
    agentId,
    number,
    place: (body: object = {}) =>
      ask(`${world.url}/v1/calls`, { headers, body: { toNumber: '+14155550199', ...body } }),
    hangUp: (callId: string) =>
      ask(`${world.url}/v1/calls/${callId}/hangup`, { headers, method: 'POST' }),
    until: (callId: string, state: object) =>
      expect
        .poll(async () => (await ask(`${world.url}/v1/calls/${callId}`, { headers })).body, {
          timeout: 60_000,
        })
        .toMatchObject(state),
  };
}

async function funded(name: string): Promise<Agent> {
  const { agentId, agentKey } = await world.fund(name, 5_000_000n);
  return { agentId, key: agentKey };
}

/** All events of a call, by name. */
const eventsOf = async (callId: string) =>
  (
    await world.sql<{ name: string }[]>`
      select name from events where correlation_id = ${callId} order by id`
  ).map(({ name }) => name);

describe('a voice whose model only a key of the developer’s own opens', () => {
  it("a call whose voice model only the developer's own key can buy is answered with that key, for the fee", async () => {
    const text = JSON.stringify({ choices: [{ delta: { content: 'Your balance is five.' } }] });
    const last = JSON.stringify({
      choices: [{ delta: {}, finish_reason: 'stop' }],
      usage: { prompt_tokens: 40, completion_tokens: 6, total_tokens: 46 },
    });
    upstream.play({
      headers: { 'content-type': 'text/event-stream' },
      pieces: [`data: ${text}\n\n`, `data: ${last}\n\n`, 'data: [DONE]\n\n'],
    });
    const agent = await talksWith(
      'acme/talker',
      await agentWithStoredKey(world, 'acme', 'sk-of-the-developer'),
    );
    callees.set(agent.number, new AskingCallee(await phoneSpeech('What is my balance?')));
    const placed = await agent.place({ maxSpendRaw: '500000' });
    expect(placed).toMatchObject({ status: 201 });
    const callId = String(placed.body.callId);
    await agent.until(callId, { status: 'completed', terminal: true });
    expect(upstream.authorizations).toContain('Bearer sk-of-the-developer');
    expect(await callEvents(world.sql, callId)).toMatchObject([{ reason: 'call_ended' }]);
    await expectBalanced(world.sql, agent.agentId);
    const [fee] = await world.sql<{ raw: bigint }[]>`
      select cost_raw as raw from charges where agent_id = ${agent.agentId} and rail = 'byok'`;
    expect((fee?.raw ?? 0n) % MODEL_LIMITS.byokFeeRaw).toBe(0n);
    expect(fee?.raw).toBeGreaterThan(0n);
  }, 120_000);

  it.each(['acme/talker', 'acme/gone'])(
    'a call is not placed, and nothing rings, when no key can buy its voice model (%s)',
    async (model) => {
      const agent = await talksWith(model, await funded(`keyless ${model.slice(5)}`));
      expect(await agent.place()).toMatchObject({
        status: 409,
        body: { error: 'voice_model_unavailable' },
      });
      const rows = await world.sql`select 1 from calls where agent_id = ${agent.agentId}`;
      expect(rows).toHaveLength(0);
    },
  );
});

describe('a call that is answered and does not open', () => {
  const failed = async (model: string, body: object, reason: string) => {
    const agent = await talksWith(model, await funded(`fails ${model.slice(0, 4)}`));
    const callId = String((await agent.place(body)).body.callId);
    await agent.until(callId, { status: 'failed', terminal: true });
    expect(await eventsOf(callId)).toEqual(['call.ended']);
    expect(await callEvents(world.sql, callId)).toMatchObject([
      { reason, durationSeconds: 0, transportRaw: '0', sttRaw: '0', ttsRaw: '0' },
    ]);
    const [row] = await world.sql`select end_reason from calls where id = ${callId}`;
    expect(row).toEqual({ end_reason: reason });
    expect((await settledMoney(world.sql, agent.agentId)).charged).toBe(0n);
  };

  it('an answered call whose hold covers no turn of its model ends once, costs nothing, and is reported once', () =>
    failed('dear/talker', { maxSpendRaw: '19200' }, 'reserve_exhausted'));

  it('an answered call whose model cannot be reached ends at once, without waiting for the sweep', () =>
    failed('mute/talker', {}, 'error'));

  it('a call that is hung up while it opens counts as unanswered: nothing is billed, and call.rejected is sent once', async () => {
    const agent = await talksWith(null, await funded('hasty'));
    let unlock = () => {};
    const unlocked = new Promise<void>((resolve) => {
      unlock = resolve;
    });
    // No session is written until then, so that the call waits between its stream and its start.
    const locked = world.sql.begin(async (tx) => {
      await tx`lock table sessions in share row exclusive mode`;
      await unlocked;
    });
    const callId = String((await agent.place()).body.callId);
    const opened = async () =>
      (await world.sql`select streams_opened from calls where id = ${callId}`)[0];
    await expect.poll(opened, { timeout: 30_000 }).toEqual({ streams_opened: 1 });
    expect(await agent.hangUp(callId)).toMatchObject({ status: 202 });
    await agent.until(callId, { status: 'pending', terminal: true });
    unlock();
    await locked;
    const session = async () =>
      (await world.sql`select end_reason from sessions where id = ${callId}`)[0];
    await expect.poll(session, { timeout: 30_000 }).toEqual({ end_reason: 'not_opened' });
    expect(await eventsOf(callId)).toEqual(['call.rejected']);
    expect((await settledMoney(world.sql, agent.agentId)).charged).toBe(0n);
  }, 60_000);
});
