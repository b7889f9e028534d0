import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SPEND_LIMITS } from '../../src/spend/limits.ts';
import {
  type AwareAgent,
  type AwareWorld,
  bearer,
  startAwareWorld,
} from '../support/aware-world.ts';
import { moneyOf } from '../support/whole-world.ts';

const directory = mkdtempSync(join(tmpdir(), 'svc-estimate-'));
let aware: AwareWorld;
let agent: AwareAgent & AsyncDisposable;
beforeAll(async () => {
  const file = join(directory, 'catalog.json');
  const direct = { rail: 'direct-account', provider: 'acme', upstreamModel: 'm' };
  const rates = { text_input_token: '2.50', text_output_token: '10.00' };
  writeFileSync(
    file,
    JSON.stringify({
      providers: { acme: { baseUrl: 'http://127.0.0.1:9', dialect: 'openai' } },
      models: [{ id: 'acme/fast-1', modality: 'text', sources: [{ ...direct, rates }] }],
    }),
  );
  aware = await startAwareWorld({ CATALOG_FILE: file });
  agent = await aware.agentWith(5n);
});
afterAll(async () => {
  expect(await moneyOf(aware.world.sql, agent.agentId), 'nothing moved').toMatchObject({
    spendable: 5n,
    held: 0n,
    charged: 0n,
  });
  await aware[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true, force: true });
});

const estimate = (body: unknown, headers: Readonly<Record<string, string>> = bearer(agent.key)) =>
  aware.to('/v1/estimate', { headers, body });

const USE = { model: 'acme/fast-1', input_tokens: 1_200, output_tokens: 400 };

describe('an estimate', () => {
  it('POST /v1/estimate prices the example of the wire contract, for any kind of credential', async () => {
    const { agentId } = agent;
    const read = { permissions: 'read' };
    const readOnly = await aware.to(`/v1/developer/agents/${agentId}/keys`, {
      headers: aware.developer.headers,
      body: read,
    });
    const viewing = await aware.to('/v1/developer/keys', {
      headers: await aware.developer.sign(),
      body: read,
    });
    for (const headers of [
      bearer(agent.key),
      aware.developer.headers,
      await aware.developer.sign(),
      bearer(String(readOnly.body.key)),
      bearer(String(viewing.body.key)),
    ]) {
      const told = await estimate(USE, headers);
      expect(told.status).toBe(200);
      expect(told.body).toEqual({
        model: 'acme/fast-1',
        rail: 'direct-account',
        provider: 'acme',
        margin_bps: 500,
        usage: { text_input_token: 1_200, text_output_token: 400 },
        upstream_cost_usdc: '0.007000',
        cost_usdc: '0.007350',
        cost_raw: '7350',
      });
    }
  });

  it('POST /v1/estimate prices the local engines in each of their units', async () => {
    expect((await estimate({ model: 'local/flite', characters: 1_000 })).body).toMatchObject({
      rail: 'self-host',
      provider: 'local',
      cost_raw: '1050',
    });
    const heard = await estimate({ model: 'local/pocketsphinx', audio_seconds: 12.3456 });
    // A part of a millisecond counts whole.
    expect(heard.body).toMatchObject({ usage: { audio_second: 12.346 }, cost_raw: '130' });
    const whole = await estimate({ model: 'local/pocketsphinx', audio_seconds: 0.07 });
    expect(whole.body).toMatchObject({ usage: { audio_second: 0.07 } });
  });

  it('POST /v1/estimate accepts the maximum amounts, and is still exact', async () => {
    const most = SPEND_LIMITS.awareness.estimateQuantity;
    const told = await estimate({ model: 'acme/fast-1', input_tokens: most, output_tokens: most });
    expect(told.body).toMatchObject({
      upstream_cost_usdc: '12500.000000',
      cost_usdc: '13125.000000',
      cost_raw: '13125000000',
    });
  });

  it('POST /v1/estimate is 404 for an unknown model, and accepts a bare model name', async () => {
    expect(await estimate({ ...USE, model: 'fast-1' })).toMatchObject({
      status: 200,
      body: { model: 'acme/fast-1' },
    });
    expect(await estimate({ ...USE, model: 'fast-2' })).toMatchObject({
      status: 404,
      body: {
        error: {
          code: 'model_not_found',
          type: 'invalid_request_error',
          param: 'model',
          message: expect.stringContaining('fast-2'),
        },
      },
    });
  });

  it.each([
    ['nothing', { model: 'acme/fast-1' }],
    ['zeroes', { model: 'acme/fast-1', input_tokens: 0, audio_seconds: 0 }],
    ['sound of a text model', { ...USE, audio_seconds: 1 }],
    ['characters of a text model', { ...USE, characters: 1 }],
  ])('POST /v1/estimate is 422 for %s', async (_, body) => {
    expect(await estimate(body)).toMatchObject({
      status: 422,
      body: { error: { code: 'no_priceable_source' } },
    });
  });

  const counts = ['input_tokens', 'output_tokens', 'cached_input_tokens', 'characters'];
  const sound = ['audio_input_tokens', 'audio_output_tokens'];
  const BAD = [-1, 1.5, '1', true, [1], SPEND_LIMITS.awareness.estimateQuantity + 1, 1e300];
  it.each([
    ...[...counts, ...sound].map((name) => [name, BAD] as const),
    ['audio_seconds', BAD.filter((bad) => bad !== 1.5)],
    ['model', [undefined, '', 7, null, 'm'.repeat(129)]],
  ] as const)('POST /v1/estimate is 400 for a wrong %s', async (name, values) => {
    for (const value of values) {
      const told = await estimate({ ...USE, [name]: value });
      expect([told.status, told.body.error], `${name}: ${value}`).toMatchObject([
        400,
        {
          type: 'invalid_request_error',
          code: 'invalid_request',
          param: name,
          message: expect.stringContaining(name),
        },
      ]);
    }
  });

  it('POST /v1/estimate is 400 for a body that is no JSON', async () => {
    expect(await estimate('{')).toMatchObject({
      status: 400,
      body: { error: { type: 'invalid_request_error' } },
    });
  });

  it('POST /v1/estimate is refused without a credential, with an unknown one, and to a closed agent', async () => {
    const refused = { error: { type: 'authentication_error' } };
    expect(await estimate(USE, {})).toMatchObject({ status: 401, body: refused });
    expect(await estimate(USE, bearer('svc_none'))).toMatchObject({ status: 401, body: refused });
    const closed = await aware.agentWith(1n);
    await closed[Symbol.asyncDispose]();
    expect(await estimate(USE, bearer(closed.key))).toMatchObject({
      status: 403,
      body: { error: { code: 'account_closed' } },
    });
  });
});
