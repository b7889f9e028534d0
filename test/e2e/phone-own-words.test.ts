import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { QuietCallee, rentNumber } from '../support/phone-world.ts';
import { startVoiceWebhook } from '../support/voice-webhook.ts';
import { ask, startWorld, type WholeWorld } from '../support/whole-world.ts';

const TO = '+14155550199';

let world: WholeWorld;
beforeAll(async () => {
  world = await startWorld(
    { SSRF_ALLOW_LOCALHOST: '1' },
    { calleeOf: async () => new QuietCallee() },
  );
});
afterAll(() => world[Symbol.asyncDispose]());

async function caller(name: string) {
  const agent = await world.fund(name, 5_000_000n);
  await rentNumber(
    world.sql,
    agent.agentId,
    `+1415555${String(1_000 + agent.agentId).slice(0, 4)}`,
  );
  const headers = { authorization: `Bearer ${agent.agentKey}` };
  const place = (body: object) =>
    ask(`${world.url}/v1/calls`, { headers, body: { toNumber: TO, ...body } });
  const rows = () => world.sql`select options from calls where agent_id = ${agent.agentId}`;
  const over = async (callId: string) => {
    await ask(`${world.url}/v1/calls/${callId}/hangup`, { headers, method: 'POST' });
    await vi.waitFor(
      async () => {
        const read = await ask(`${world.url}/v1/calls/${callId}`, { headers });
        expect(read.body.terminal).toBe(true);
      },
      { timeout: 25_000 },
    );
  };
  return { ...agent, headers, over, place, rows };
}

describe.concurrent('a call with its own words', () => {
  it('a call has its own greeting, prompt, model and turn taking, and its metadata in events and report', async () => {
    const agent = await caller('own');
    const { body, status } = await agent.place({
      beginMessage: 'Hello {{ name }}, your order {{order}} is ready.',
      systemPrompt: 'You talk to {{name}}.',
      model: 'local/guide',
      voice: { speed: 1.2 },
      turnDetection: { mode: 'patient' },
      variables: { name: 'Ann {{order}}', order: 7 },
      metadata: { crmId: 'c-1', vip: true },
      report: true,
    });
    expect(status).toBe(201);
    const callId = String(body.callId);
    await vi.waitFor(
      async () => {
        const turns = await world.sql`select content from call_turns where call_id = ${callId}`;
        expect(turns).toEqual([{ content: 'Hello Ann {{order}}, your order 7 is ready.' }]);
      },
      { timeout: 25_000 },
    );
    await agent.over(callId);
    const [row] = await agent.rows();
    expect(row?.options.voice).toMatchObject({
      systemPrompt: 'You talk to Ann {{order}}.',
      model: 'local/guide',
      conversation: { voiceTuning: { speed: 1.2 }, turnDetection: { mode: 'patient' } },
    });
    const metadata = { crmId: 'c-1', vip: true };
    const events = await world.sql<{ name: string; payload: object }[]>`
      select name, payload from events where correlation_id = ${callId} order by id`;
    expect(events.map(({ name }) => name)).toEqual([
      'call.started',
      'call.ended',
      'call.report.ready',
    ]);
    for (const { payload } of events) expect(payload).toMatchObject({ metadata });
    const report = await ask(`${world.url}/v1/calls/${callId}/report`, { headers: agent.headers });
    expect(report.body).toMatchObject({ metadata });
    const [stored] = await world.sql`select from voice_settings where agent_id = ${agent.agentId}`;
    expect(stored).toBeUndefined();
  }, 60_000);

  it.each([
    ['a variable without a value', { beginMessage: 'Hi {{name}}', variables: {} }, 'invalid_voice'],
    ['a model that is not sold', { model: 'nobody/knows' }, 'invalid_model'],
    ['a wrong turn detection', { turnDetection: { mode: 'hasty' } }, 'invalid_voice'],
    ['a wrong speed', { voice: { speed: 9 } }, 'invalid_voice'],
    [
      'a greeting that grows too long',
      { beginMessage: '{{a}}{{a}}', variables: { a: 'x'.repeat(1_000) } },
      'invalid_voice',
    ],
    ['a variable with no name', { variables: { 'a b': 'c' } }, undefined],
    [
      'too many variables',
      { variables: Object.fromEntries(Array.from({ length: 51 }, (_, n) => [`v${n}`, n])) },
      undefined,
    ],
    ['a text that no row can hold', { systemPrompt: 'a\0b' }, undefined],
    [
      'an analysis by a schema with a pattern',
      { analysis: { schema: { type: 'object', properties: { a: { pattern: 'x' } } } } },
      'invalid_analysis',
    ],
    ['metadata that is no object', { metadata: 'crm' }, undefined],
  ])('a call with %s is refused before anything rings', async (name, body, error) => {
    const agent = await caller(name);
    const refused = await agent.place(body);
    expect(refused.status).toBe(400);
    if (error !== undefined) expect(refused.body.error).toBe(error);
    expect(await agent.rows()).toEqual([]);
  });

  it('a call with a webhook responder takes variables and metadata, and refuses a prompt of its own', async () => {
    await using webhook = await startVoiceWebhook();
    const agent = await caller('hooked');
    await world.sql`insert into voice_settings (agent_id, voice_mode, webhook_url)
      values (${agent.agentId}, 'webhook', ${webhook.url})`;
    expect(await agent.place({ systemPrompt: 'Be kind.' })).toMatchObject({
      status: 400,
      body: { error: 'invalid_voice' },
    });
    const { body, status } = await agent.place({ variables: { name: 'Ann' }, metadata: { id: 1 } });
    expect(status).toBe(201);
    await agent.over(String(body.callId));
  });
});
