import Anthropic from '@anthropic-ai/sdk';
import { beforeEach, describe, expect, it } from 'vitest';
import { MODEL_LIMITS } from '../../../src/models/limits.ts';
import { anthropicWorld } from '../../support/anthropic-world.ts';
import { AGENT_KEY } from '../../support/gateway-world.ts';
import {
  FLOODING,
  PENNILESS,
  PER_MINUTE,
  READER,
  refusingWorld,
  SUSPENDED,
} from '../../support/refused-callers.ts';
import type { StreamWorld } from '../../support/stream-world.ts';

const MODEL = 'acme/fast-1';
const messages = [{ role: 'user' as const, content: 'Good morning?' }];

let world: StreamWorld;
beforeEach(async () => {
  world = await refusingWorld();
  return () => world[Symbol.asyncDispose]();
});

type Wish = { readonly apiKey?: string; readonly wanted?: object; readonly path?: string };

async function failing({ apiKey = AGENT_KEY, path = '/v1/messages', wanted }: Wish) {
  const claude = new Anthropic({
    apiKey,
    authToken: null,
    baseURL: world.gateway.baseUrl.replace(/\/v1$/, ''),
    maxRetries: 0,
  });
  const body = { model: MODEL, max_tokens: 100, messages, ...wanted };
  const thrown: unknown = await claude.post(path, { body }).then(
    () => undefined,
    (error: unknown) => error,
  );
  if (thrown instanceof Anthropic.APIError) return thrown;
  throw new Error('no error of the client was thrown', { cause: thrown });
}

const refusals: readonly [string, Wish, number, string, string | RegExp][] = [
  [
    'a request that is none',
    { wanted: { messages: [] } },
    400,
    'invalid_request_error',
    'invalid_request',
  ],
  [
    'an answer without a bound',
    { wanted: { max_tokens: null } },
    400,
    'invalid_request_error',
    'invalid_request',
  ],
  [
    'a key that is none',
    { apiKey: `svc_${'0'.repeat(64)}` },
    401,
    'authentication_error',
    'invalid_api_key',
  ],
  [
    'a key of the vendor',
    { apiKey: 'sk-ant-api03-x' },
    401,
    'authentication_error',
    'invalid_api_key',
  ],
  [
    'a balance that does not reach',
    { apiKey: PENNILESS },
    402,
    'billing_error',
    'budget_exhausted',
  ],
  ['a key that may only read', { apiKey: READER }, 403, 'permission_error', /./],
  ['an agent that is suspended', { apiKey: SUSPENDED }, 403, 'permission_error', /./],
  [
    'a model that is none',
    { wanted: { model: 'acme/none' } },
    404,
    'not_found_error',
    'model_not_found',
  ],
  ['a route that is none', { path: '/v1/messages/batches' }, 404, 'not_found_error', 'not_found'],
  [
    'a base with one /v1 too many',
    { path: '/v1/v1/messages' },
    404,
    'not_found_error',
    'not_found',
  ],
  [
    'too many words',
    { wanted: { system: 'so many words '.repeat(300_000) } },
    413,
    'request_too_large',
    'payload_too_large',
  ],
];

describe('a refusal of this server', () => {
  it.each(refusals)(
    'a Messages refusal of %s has Anthropic’s error envelope, and costs nothing',
    async (_, wish, status, type, code) => {
      const error = await failing(wish);
      expect(error.status).toBe(status);
      expect(error.error).toEqual({
        type: 'error',
        error: expect.objectContaining({
          type,
          code: expect.stringMatching(code),
          message: expect.stringMatching(/\w+ /),
        }),
        request_id: error.requestID,
      });
      expect(error.requestID).toMatch(/^req_/);
      expect(world.upstream.seen).toEqual([]);
      expect(world.ledger.charges).toEqual([]);
    },
  );

  it('a Messages refusal for the balance gives the available and the required amount', async () => {
    const { error } = await failing({ apiKey: PENNILESS });
    expect(error).toMatchObject({
      error: { scope: 'wallet', available: '1', required: expect.stringMatching(/^\d+$/) },
    });
  });

  it('a Messages refusal for too many requests gives the seconds to wait', async () => {
    let error = await failing({ apiKey: FLOODING, wanted: { messages: [] } });
    for (let i = 0; i < PER_MINUTE && error.status !== 429; i++) {
      error = await failing({ apiKey: FLOODING, wanted: { messages: [] } });
    }
    expect(error).toBeInstanceOf(Anthropic.RateLimitError);
    expect(error.error).toMatchObject({
      error: {
        type: 'rate_limit_error',
        code: 'rate_limited',
        retry_after_seconds: expect.any(Number),
      },
    });
    expect(error.headers?.get('retry-after')).toMatch(/^\d+$/);
  });

  it('a Messages refusal for a failed upstream is an api_error that may be retried', async () => {
    world.upstream.play({ status: 500, pieces: ['{}'] });
    const error = await failing({});
    expect(error).toMatchObject({ status: 502, error: { error: { type: 'api_error' } } });
    expect(error.headers?.get('x-should-retry')).toBe('true');
    expect(await world.charged()).toBe(0n);
  });

  it('a Messages refusal for a rate-limited upstream is a rate_limit_error with its Retry-After', async () => {
    world.upstream.play({ status: 429, headers: { 'retry-after': '7' }, pieces: ['{}'] });
    const error = await failing({});
    expect(error).toMatchObject({ status: 429, error: { error: { type: 'rate_limit_error' } } });
    expect(error.headers?.get('retry-after')).toBe('7');
  });

  it('a Messages refusal for a source in backoff is an overloaded_error', async () => {
    world.upstream.play({ status: 500, pieces: ['{}'] });
    let error = await failing({});
    for (let i = 0; i < 9 && error.status !== 503; i++) error = await failing({});
    expect(error).toMatchObject({ status: 503, error: { error: { type: 'overloaded_error' } } });
  });

  it('a Messages refusal of another method lists the allowed methods', async () => {
    const response = await fetch(`${world.gateway.baseUrl}/messages`);
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toContain('POST');
    expect(await response.json()).toMatchObject({ type: 'error' });
  });

  it('a Messages refusal of invalid JSON has Anthropic’s error envelope', async () => {
    const response = await world.gateway.request('/messages', { body: '{"model":' });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { type: 'invalid_request_error' } });
  });

  it.each([
    ['anthropic-version', '2023-01-01'],
    ['anthropic-beta', 'a b'],
    ['anthropic-beta', 'x'.repeat(MODEL_LIMITS.chat.betaHeaderChars + 1)],
  ])('a Messages refusal of the header %s: %s names the header', async (name, value) => {
    const response = await world.gateway.request('/messages', {
      body: { model: MODEL, max_tokens: 100, messages },
      headers: { [name]: value },
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { param: name } });
  });
});

const SEARCH = { type: 'web_search_20260318', name: 'web_search' };
const addition = (definition: object) => ({
  type: 'tool_addition',
  tool: { type: 'tool_definition', definition },
});
/** A message with such a block behind what was asked. */
const then = (role: string, block: object) => ({
  messages: [...messages, { role, content: [block] }],
});

describe('what costs more than tokens, where the pool pays', () => {
  it.each([
    ['tools.0', { tools: [SEARCH] }],
    ['tools.0', { tools: [{ type: 'code_execution_20260521', name: 'code_execution' }] }],
    ['tools.0', { tools: [{ type: 'mcp_toolset', mcp_server_name: 'x' }] }],
    ['messages.1.content', then('system', addition(SEARCH))],
    [
      'messages.1.content',
      then('user', { type: 'compaction', content: 'x', tool_changes: [addition(SEARCH)] }),
    ],
    ['mcp_servers', { mcp_servers: [{ type: 'url', url: 'https://x.example', name: 'x' }] }],
    ['container', { container: 'container_1' }],
    ['speed', { speed: 'fast' }],
    ['inference_geo', { inference_geo: 'us' }],
    ['fallbacks', { fallbacks: [{ model: 'dear' }] }],
    ['thread', { thread: { id: 'another' } }],
    ['workspace_id', { workspace_id: 'another' }],
    ['context_management', { context_management: { edits: [{ type: 'compact_20260112' }] } }],
    [
      'messages.0.content',
      {
        messages: [
          { role: 'user', content: [{ type: 'document', source: { type: 'file', file_id: 'f' } }] },
        ],
      },
    ],
    [
      'messages.0.content',
      {
        messages: [
          {
            role: 'user',
            content: [
              {
                type: 'tool_result',
                tool_use_id: 't',
                content: [{ type: 'document', source: { type: 'url', url: 'https://x.example' } }],
              },
            ],
          },
        ],
      },
    ],
  ])(
    'a Messages field that costs more than tokens is refused by its name in the pool: %s',
    async (param, wish) => {
      await using w = await anthropicWorld();
      const asked = { model: 'acme/claude-1', max_tokens: 100, messages, ...wish };
      for (const path of ['/messages', '/messages/count_tokens']) {
        const response = await w.gateway.request(path, { body: asked });
        expect([path, response.status]).toEqual([path, 400]);
        expect(await response.json()).toMatchObject({ error: { param } });
      }
      expect(w.upstream.seen).toEqual([]);
      await w.balanced();
    },
  );

  it('a Messages field that costs more than tokens is relayed with the caller’s own provider key', async () => {
    await using w = await anthropicWorld();
    const asked = { model: 'acme/claude-1', max_tokens: 100, messages };
    const wishes = [{ tools: [SEARCH] }, then('system', addition(SEARCH))];
    for (const [index, wish] of wishes.entries()) {
      const response = await w.gateway.request('/messages', {
        headers: {
          'x-svc-provider-key': 'sk-ant-upstream',
          'anthropic-beta': 'inline-tools-2026-09-15',
        },
        body: { ...asked, ...wish },
      });
      expect(response.status).toBe(200);
      expect(w.upstream.seen[index]?.body).toMatchObject(wish);
    }
  });
});
