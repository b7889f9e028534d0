import Anthropic from '@anthropic-ai/sdk';
import { expect, it } from 'vitest';
import { anthropicWorld, MODEL } from '../../support/anthropic-world.ts';
import { AGENT_KEY } from '../../support/gateway-world.ts';

/** A client of Anthropic's SDK, whose key is sent as `X-Api-Key`. */
const claudeOf = (baseUrl: string, apiKey: string = AGENT_KEY) =>
  new Anthropic({ apiKey, baseURL: baseUrl.replace(/\/v1$/, ''), maxRetries: 2 });

it('Anthropic’s SDK lists the chat models page by page, each once, and reads one', async () => {
  await using w = await anthropicWorld();
  const claude = claudeOf(w.gateway.baseUrl);
  const whole = await claude.models.list({ limit: 1_000 });
  const ids = whole.data.map(({ id }) => id);
  expect(ids).toContain(MODEL);
  expect(ids).toContain('anthropic/claude-sonnet-5');
  expect(whole).toMatchObject({ has_more: false, first_id: ids[0], last_id: ids.at(-1) });

  const paged: string[] = [];
  for await (const { id } of claude.models.list({ limit: 2 })) paged.push(id);
  expect(paged).toEqual(ids);
  const before = await claude.models.list({ before_id: ids[2] as string, limit: 1 });
  expect(before).toMatchObject({ data: [{ id: ids[1] }], has_more: true });

  expect(await claude.models.retrieve(MODEL)).toEqual({
    type: 'model',
    id: MODEL,
    display_name: MODEL,
    created_at: '1970-01-01T00:00:00Z',
    capabilities: null,
    line: null,
    max_input_tokens: null,
    max_tokens: null,
    lifecycle: 'active',
    deprecated_at: null,
    retires_at: null,
  });
  expect(await claude.models.retrieve('anthropic/claude-sonnet-5')).toMatchObject({
    id: 'anthropic/claude-sonnet-5',
    max_input_tokens: expect.any(Number),
  });
});

it('Anthropic’s SDK reads refusals of the model routes in its own envelope', async () => {
  await using w = await anthropicWorld();
  const claude = claudeOf(w.gateway.baseUrl);
  await expect(claude.models.retrieve('acme/none')).rejects.toMatchObject({
    status: 404,
    error: { type: 'error', error: { type: 'not_found_error', code: 'model_not_found' } },
  });
  for (const query of [{ limit: 0 }, { limit: 1_001 }, { after_id: 'acme/none' }]) {
    await expect(claude.models.list(query)).rejects.toMatchObject({
      status: 400,
      error: { type: 'error', error: { type: 'invalid_request_error' } },
    });
  }
});

it('Anthropic’s SDK sends one request with a wrong key, since the refusal says not to retry', async () => {
  await using w = await anthropicWorld();
  const wrong = claudeOf(w.gateway.baseUrl, `svc_${'0'.repeat(64)}`);
  for (const ask of [
    () => wrong.models.list(),
    () =>
      wrong.messages.create({
        model: MODEL,
        max_tokens: 10,
        messages: [{ role: 'user', content: 'Hello' }],
      }),
  ]) {
    const error = await ask().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Anthropic.AuthenticationError);
    const { headers } = error as InstanceType<typeof Anthropic.AuthenticationError>;
    expect(headers?.get('x-should-retry')).toBe('false');
  }
});

it('a client other than Anthropic’s gets OpenAI’s model list, also with its key in X-Api-Key', async () => {
  await using w = await anthropicWorld();
  const response = await fetch(`${w.gateway.baseUrl}/models`, {
    headers: { 'x-api-key': AGENT_KEY },
  });
  expect(response.status).toBe(200);
  expect(await response.json()).toMatchObject({ object: 'list' });
});
