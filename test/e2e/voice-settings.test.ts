import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Ask,
  ask,
  newDeveloper,
  startWorld,
  type Told,
  type WholeWorld,
} from '../support/whole-world.ts';

let world: WholeWorld;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

const to = (path: string, options: Ask = {}) => ask(world.url + path, options);
let developers = 0;

/** A developer with one agent, and the routes of that agent. */
async function owner() {
  const { createAgent, headers } = await newDeveloper(world.api, `owner ${++developers}`);
  const agentId = await createAgent('caller');
  const call = (method: string, path: string, body?: unknown): Promise<Told> =>
    to(`/v1/developer/agents/${agentId}${path}`, {
      method,
      headers,
      ...(body !== undefined && { body }),
    });
  return { headers, agentId, call };
}

const refusal = ({ status, body }: Told) => [status, body.error];

describe('the voice settings of an agent', () => {
  const MODEL = 'openai/gpt-5.4-mini';

  it('the voice settings of an agent have defaults, are changed as flat fields, and are shown nested and flat', async () => {
    const { call } = await owner();
    const off = { recordCalls: false, reportCalls: false, tools: [] };
    expect((await call('GET', '/voice')).body).toEqual({
      voiceMode: 'hosted',
      voiceConfig: { model: MODEL, ...off },
      model: MODEL,
      ...off,
    });
    const config = { systemPrompt: 'Be brief.', beginMessage: 'Hello.', voice: 'slt' };
    const set = await call('PATCH', '/voice', { ...config, model: 'local/guide' });
    const whole = { ...config, ...off, model: 'local/guide' };
    expect(set.body).toEqual({ voiceMode: 'hosted', voiceConfig: whole, ...whole });
    const cleared = await call('POST', '/voice', { systemPrompt: '', model: '' });
    const rest = { ...off, beginMessage: 'Hello.', voice: 'slt', model: MODEL };
    expect(cleared.body).toEqual({ voiceMode: 'hosted', voiceConfig: rest, ...rest });
    expect((await call('GET', '/voice')).body).toEqual(cleared.body);
  });

  it('an inbound URL that is not https, or leads to a private place, is refused', async () => {
    const { call } = await owner();
    for (const inboundUrl of [
      'http://example.com/',
      'wss://example.com/',
      'ftp://a',
      'not a url',
      7,
      'https://10.0.0.1/',
      'https://127.0.0.1/',
      'https://169.254.169.254/',
      `https://example.com/${'x'.repeat(2_048)}`,
    ]) {
      expect(refusal(await call('PATCH', '/voice', { inboundUrl })), String(inboundUrl)).toEqual([
        400,
        'invalid_inbound_url',
      ]);
    }
    expect((await call('PATCH', '/voice', { inboundUrl: '' })).status).toBe(200);
    expect((await call('GET', '/voice')).body).not.toHaveProperty('inboundUrl');
  });

  it('the voice settings of an agent keep the last turn detection, language and voice that were set', async () => {
    const { call } = await owner();
    const conversation = {
      turnDetection: { mode: 'patient', onNumberMs: 2_000 },
      interruption: { minWords: 3 },
      idleSeconds: 20,
      keyterms: ['Wickenburg'],
      language: 'en-US',
      noiseSuppression: 'on',
    };
    const voice = { name: 'slt', speed: 1.25 };
    const set = await call('PATCH', '/voice', { ...conversation, voice });
    const whole = { ...conversation, voice: 'slt', voiceTuning: { speed: 1.25 } };
    expect(set.body).toMatchObject({ voiceConfig: whole, ...whole });
    await call('PATCH', '/voice', { turnDetection: { mode: 'fast' }, keyterms: null });
    const { keyterms: _, ...rest } = whole;
    const { body } = await call('GET', '/voice');
    expect(body).toMatchObject({ voiceConfig: { ...rest, turnDetection: { mode: 'fast' } } });
    expect(body).not.toHaveProperty('keyterms');
  });

  it('the voice settings of an agent need a public URL in webhook mode, which can be removed only with the mode', async () => {
    const { call } = await owner();
    const patch = async (body: unknown) => refusal(await call('PATCH', '/voice', body));
    expect(await patch({ voiceMode: 'webhook' })).toEqual([400, 'webhook_url_required']);
    for (const webhookUrl of [
      'http://93.184.216.34/',
      'ftp://a.com',
      'https://127.0.0.1/',
      'wss://10.1.2.3/',
      'x',
    ]) {
      expect(await patch({ webhookUrl })).toEqual([400, 'invalid_webhook_url']);
    }
    const webhookUrl = 'https://93.184.216.34/secret';
    expect(await patch({ voiceMode: 'webhook', webhookUrl })).toEqual([200, undefined]);
    expect(await patch({ webhookUrl: '' })).toEqual([400, 'webhook_url_required']);
    expect((await call('GET', '/voice')).body).toMatchObject({
      voiceMode: 'webhook',
      voiceConfig: { webhookUrl },
    });
    expect(await patch({ webhookUrl: '', voiceMode: 'hosted' })).toEqual([200, undefined]);
  });

  it.each([
    [{ voiceMode: 'phone' }, 'invalid_voice_mode'],
    [{ model: 'local/flite' }, 'invalid_model'],
    [{ model: 'no/such' }, 'invalid_model'],
    [{ beginMessage: 'x'.repeat(1_501) }, 'invalid_voice'],
    [{ turnDetection: { minSilenceMs: 50 } }, 'invalid_voice'],
  ])('the voice settings of an agent are refused with 400 as %j', async (body, error) => {
    const { call } = await owner();
    expect(refusal(await call('PATCH', '/voice', body))).toEqual([400, error]);
    expect((await call('GET', '/voice')).body).toMatchObject({ voiceMode: 'hosted' });
  });

  it('the voice settings of an agent are invisible to another developer, and cannot be changed once the agent is closed', async () => {
    const first = await owner();
    const { headers } = await owner();
    const path = `/v1/developer/agents/${first.agentId}/voice`;
    for (const method of ['GET', 'PATCH', 'POST']) {
      expect(refusal(await to(path, { method, headers }))).toEqual([404, 'not_found']);
    }
    await first.call('POST', '/close');
    expect(refusal(await first.call('PATCH', '/voice', {}))).toEqual([403, 'account_closed']);
  });
});
