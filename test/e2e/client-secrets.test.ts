import { OpenAIRealtimeWebSocket, RealtimeAgent, RealtimeSession } from '@openai/agents-realtime';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bearer } from '../support/edge.ts';
import { RealtimeClient } from '../support/realtime-client.ts';
import { refusal } from '../support/web-socket-client.ts';
import {
  ask,
  newDeveloper,
  settledMoney,
  startWorld,
  type WholeWorld,
} from '../support/whole-world.ts';

const MODEL = 'local/realtime';
const SESSION = {
  type: 'realtime' as const,
  model: MODEL,
  instructions: 'Be kind.',
  output_modalities: ['text'],
} satisfies OpenAI.Realtime.RealtimeSessionCreateRequest;

let world: WholeWorld;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

const socketUrl = (query = `model=${MODEL}`) => `${world.wsUrl}/v1/realtime?${query}`;
const official = (apiKey: string) => new OpenAI({ apiKey, baseURL: `${world.url}/v1` });
const post = (key: string, body: unknown) =>
  ask(`${world.url}/v1/realtime/client_secrets`, { headers: bearer(key), body });

describe('a client secret', () => {
  it('a client secret is created by the official client, and lets a browser hold one session on its agent’s balance', async () => {
    const agent = await world.fund('server', 1_000_000n);
    const before = Date.now() / 1_000;
    const made = await official(agent.agentKey).realtime.clientSecrets.create({
      session: SESSION,
      expires_after: { anchor: 'created_at', seconds: 120 },
    });
    expect(made.value).toMatch(/^ek_/);
    const after = Date.now() / 1_000;
    expect(made.expires_at).toBeGreaterThanOrEqual(Math.floor(before) + 120);
    expect(made.expires_at).toBeLessThanOrEqual(after + 120);
    expect(made.session).toMatchObject({ ...SESSION, object: 'realtime.session', expires_at: 0 });

    const offers = ['realtime', `openai-insecure-api-key.${made.value}`, 'openai-agents-sdk.0.20'];
    const client = new RealtimeClient(socketUrl(), offers);
    const created = await client.until(({ type }) => type === 'session.created');
    expect(client.ws.protocol).toBe('realtime');
    expect(created.session).toMatchObject(SESSION);
    const item = {
      type: 'message',
      role: 'user',
      content: [{ type: 'input_text', text: 'What is two plus two?' }],
    };
    client.say({ type: 'conversation.item.create', item });
    client.say({ type: 'response.create' });
    await client.until(({ type }) => type === 'response.done');
    expect(client.of('response.output_text.done')[0]).toMatchObject({ text: 'That is 4.' });
    client.ws.close();
    await client.closed;
    const money = await settledMoney(world.sql, agent.agentId);
    expect(money.charged).toBeGreaterThan(0n);
    expect(money.spendable).toBe(1_000_000n - money.charged);
  });

  it('a client secret opens the socket as bearer, sub-protocol and query, and for the agents client', async () => {
    const agent = await world.fund('everywhere');
    const { value } = await official(agent.agentKey).realtime.clientSecrets.create({});
    for (const client of [
      new RealtimeClient(socketUrl(), [], bearer(value)),
      new RealtimeClient(socketUrl(), ['svc-realtime', value]),
      new RealtimeClient(socketUrl(`model=${MODEL}&api_key=${value}`)),
    ]) {
      await client.until(({ type }) => type === 'session.created');
      client.ws.close();
      await client.closed;
    }
    const session = new RealtimeSession(new RealtimeAgent({ name: 'browser' }), {
      transport: new OpenAIRealtimeWebSocket({ url: socketUrl() }),
      model: MODEL,
    });
    await session.connect({ apiKey: value });
    const answered = new Promise<void>((resolve) => session.on('agent_end', () => resolve()));
    session.sendMessage('What is two plus two?');
    await answered;
    session.close();
  });

  it('a client secret opens no other route and no other socket, and creates no second secret', async () => {
    const agent = await world.fund('nowhere');
    const { value } = await official(agent.agentKey).realtime.clientSecrets.create({});
    const tried = await Promise.all([
      post(value, {}),
      ask(`${world.url}/v1/agents/balance`, { headers: bearer(value) }),
      ask(`${world.url}/v1/models`, { headers: bearer(value) }),
      ask(`${world.url}/v1/developer/agents`, { headers: bearer(value) }),
      ask(`${world.url}/v1/chat/completions`, { headers: bearer(value), body: {} }),
      refusal(
        `${world.wsUrl}/v1/audio/transcriptions/stream?model=local/pocketsphinx`,
        ['svc-stt', value],
        {},
      ),
    ]);
    expect(tried.map(({ status }) => status)).toEqual(Array(6).fill(401));
  });

  it('a client secret allows only the model that it names', async () => {
    const agent = await world.fund('bound');
    const made = await post(agent.agentKey, { session: { model: MODEL } });
    const answer = await refusal(
      socketUrl('model=openai/gpt-realtime'),
      [],
      bearer(String(made.body.value)),
    );
    expect([answer.status, answer.body.error]).toEqual([
      400,
      expect.objectContaining({ param: 'model', message: expect.stringContaining(MODEL) }),
    ]);
  });

  it('a client secret is revoked with the key that created it', async () => {
    const developer = await newDeveloper(world.api, 'revoker');
    const agentId = await developer.createAgent('revoked');
    const { keyId, key } = await developer.mintKey(agentId);
    const { body } = await post(key, {});
    const knock = async () => (await refusal(socketUrl(), [], bearer(String(body.value)))).status;
    // Nobody has paid anything in: the secret is good, and that is all there is.
    expect(await knock()).toBe(402);
    await ask(`${world.url}/v1/developer/agents/${agentId}/keys/${keyId}`, {
      method: 'DELETE',
      headers: developer.headers,
    });
    await expect.poll(knock).toBe(401);
  });

  it('a client secret stops working when the agent of its key is closed', async () => {
    const agent = await world.fund('revoked');
    const { body } = await post(agent.agentKey, {});
    const client = new RealtimeClient(socketUrl(), [], bearer(String(body.value)));
    await client.until(({ type }) => type === 'session.created');
    await ask(`${world.url}/v1/agents/close`, {
      method: 'POST',
      headers: bearer(agent.agentKey),
      body: {},
    });
    expect((await client.closed).code).toBe(1008);
    const late = await refusal(socketUrl(), [], bearer(String(body.value)));
    expect(late.status).toBe(403);
  });

  it.each([
    ['lives too long', { expires_after: { seconds: 7_201 } }, 'expires_after.seconds'],
    ['is over at once', { expires_after: { seconds: 9 } }, 'expires_after.seconds'],
    ['counts from elsewhere', { expires_after: { anchor: 'now' } }, 'expires_after.anchor'],
    ['is for another kind of model', { session: { model: 'local/flite' } }, 'session.model'],
    [
      'says what cannot be',
      { session: { audio: { output: { speed: 9 } } } },
      'session.audio.output.speed',
    ],
  ])('a client secret is refused when it %s', async (_, wanted, param) => {
    const agent = await world.fund('wishes');
    const { status, body } = await post(agent.agentKey, wanted);
    expect([status, body.error]).toEqual([400, expect.objectContaining({ param })]);
  });

  it('a client secret that was never issued is refused as unknown', async () => {
    const answer = await refusal(socketUrl(), [], bearer('ek_68af296e8e408191a1120ab6383263c2'));
    expect([answer.status, answer.body.error]).toEqual([
      401,
      expect.objectContaining({ code: 'invalid_api_key' }),
    ]);
  });

  it('a client secret names its model as the catalogue does, and accepts the bare name', async () => {
    const agent = await world.fund('bare');
    const { body } = await post(agent.agentKey, { session: { ...SESSION, model: 'realtime' } });
    expect(body.session).toMatchObject({ model: MODEL });
    for (const model of ['realtime', MODEL]) {
      const client = new RealtimeClient(
        socketUrl(`model=${model}`),
        [],
        bearer(String(body.value)),
      );
      const created = await client.until(({ type }) => type === 'session.created');
      expect(created.session).toMatchObject({ model: MODEL });
      client.ws.close();
      await client.closed;
    }
  });

  it('a client secret can name a model that only a stored key can buy, and tells when the vendor shuts the model down', async () => {
    const agent = await world.fund('keyed');
    const made = await post(agent.agentKey, { session: { model: 'gpt-realtime' } });
    expect(made.body.session).toMatchObject({ model: 'openai/gpt-realtime' });
    expect(made.headers.get('sunset')).toBe('Wed, 20 Jan 2027 00:00:00 GMT');
    expect(made.headers.get('deprecation')).toMatch(/^@\d+$/);
    const key = String(made.body.value);
    // This developer has none, and the server has no account.
    const answer = await refusal(socketUrl('model=gpt-realtime'), [], bearer(key));
    expect([answer.status, answer.body.error]).toMatchObject([404, { code: 'model_not_found' }]);
  });

  it('a client secret for a transcription model must have the type transcription', async () => {
    const agent = await world.fund('scribe');
    const model = 'pocketsphinx';
    const { status } = await post(agent.agentKey, { session: { type: 'realtime', model } });
    expect(status).toBe(400);
    const { body } = await post(agent.agentKey, { session: { type: 'transcription', model } });
    const heardBy = { audio: { input: { transcription: { model: 'local/pocketsphinx' } } } };
    expect(body.session).toMatchObject(heardBy);
    const query = 'intent=transcription&model=local/pocketsphinx';
    const client = new RealtimeClient(socketUrl(query), [], bearer(String(body.value)));
    const created = await client.until(({ type }) => type === 'session.created');
    expect(created.session).toMatchObject({ type: 'transcription', ...heardBy });
    client.ws.close();
    await client.closed;
  });

  it('a client secret of the type transcription opens a transcription session', async () => {
    const agent = await world.fund('listener');
    const { body } = await post(agent.agentKey, { session: { type: 'transcription' } });
    expect(body.session).toMatchObject({ object: 'realtime.transcription_session' });
    const client = new RealtimeClient(
      socketUrl('intent=transcription'),
      [],
      bearer(String(body.value)),
    );
    const created = await client.until(({ type }) => type === 'session.created');
    expect(created.session).toMatchObject({ type: 'transcription' });
    client.ws.close();
    await client.closed;
  });
});
