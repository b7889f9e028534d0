import { describe, expect, it } from 'vitest';
import { createUnknownRoute } from '../../../../src/http/server/unknown-route.ts';

const unknown = createUnknownRoute([
  { method: 'POST', path: '/v1/chat/completions', envelope: 'openai' },
  { method: 'POST', path: '/v1/messages', envelope: 'anthropic' },
  { method: 'POST', path: '/v1/mcp', envelope: 'jsonrpc' },
  { method: 'GET', path: '/v1/models', envelope: 'openai' },
  { method: 'GET', path: '/v1/models/:id', envelope: 'openai' },
  { method: 'POST', path: '/v1/audio/transcriptions', envelope: 'openai' },
  { method: 'POST', path: '/v1/llm/chat/completions', envelope: 'openai' },
  { method: 'GET', path: '/v1/developer/agents/:id/policies', envelope: 'flat' },
  { method: 'POST', path: '/v1/developer/agents/:id/policies', envelope: 'flat' },
  { method: 'GET', path: '/v1/developer/keys', envelope: 'flat' },
  { method: 'DELETE', path: '/v1/developer/keys/:keyId', envelope: 'flat' },
  { method: 'PUT', path: '/v1/developer/provider-keys/:provider', envelope: 'flat' },
]);
const messageOf = (method: string, path: string) => unknown(method, path).refusal().fields.message;

describe('a path that no route has', () => {
  it.each([
    ['POST', '/v1/chat/completion', 'POST /v1/chat/completions'],
    ['POST', '/chat/completions', 'POST /v1/chat/completions'],
    ['POST', '/v1/v1/chat/completions', 'POST /v1/chat/completions'],
    ['POST', '/openai/v1/chat/completion', 'POST /v1/chat/completions'],
    ['POST', '/v1/completions', 'POST /v1/chat/completions'],
    ['POST', '/v1/audio/translations', 'POST /v1/audio/transcriptions'],
    ['POST', '/v1/chat/completions/', 'POST /v1/chat/completions'],
    ['POST', '/v2/chat/completions', 'POST /v1/chat/completions'],
    ['HEAD', '/v1/model', 'GET /v1/models'],
    ['GET', '/v1/developer/key', 'GET /v1/developer/keys'],
    ['DELETE', '/v1/developer/key/71', 'DELETE /v1/developer/keys/:keyId'],
    [
      'GET',
      '/v1/developer/agent/0b7e6a52-93c4-4c4e-8f0e-0d6b6f1a2c3d/policies',
      'GET /v1/developer/agents/:id/policies',
    ],
    ['GET', '/models', 'GET /v1/models'],
    ['GET', '/v1/model', 'GET /v1/models'],
    ['POST', '/v1/developer/agents/12/policys', 'POST /v1/developer/agents/:id/policies'],
    ['GET', '/v1/developer/agents/12/policys', 'GET /v1/developer/agents/:id/policies'],
  ])(
    'the 404 of an unknown path names the route that was probably meant: %s %s',
    (method, path, meant) => {
      expect(messageOf(method, path)).toContain(`did you mean ${meant}?`);
    },
  );

  it('a path of another vendor that is no prefix of a route is told the base URL to use', () => {
    expect(messageOf('POST', '/v1beta/models/gemini-3-pro:streamGenerateContent')).toBe(
      "Gemini's own API is not served: use a client of OpenAI with the base URL <this server>/v1beta/openai/ or <this server>/v1.",
    );
    expect(messageOf('POST', '/openai/deployments/gpt/chat/completions')).toBe(
      'Azure puts the model into the path: use a client of OpenAI with the base URL <this server>/v1 and name the model in the body.',
    );
  });

  it.each([
    ['GET', '/favicon.ico'],
    ['POST', '/v1/images/generations'],
    ['POST', '/v1/moderations'],
    // Another method.
    ['DELETE', '/v1/chat/completion'],
    ['GET', '/chat/completions'],
    ['GET', '/v1/completions'],
    ['PUT', '/v1/developer/agents/12/policys'],
    // Another part of the API, or a word where an id belongs.
    ['GET', '/v1/developer/team/members'],
    ['DELETE', '/v1/developer/team/members'],
    ['DELETE', '/v1/developer/team/71'],
    ['DELETE', '/v1/developer/key/members'],
    ['GET', '/v1/developer/agents/mine/policys'],
    ['GET', '/v1/developer/agents/12/numbers'],
    ['GET', '/v1/model/v1'],
  ])(
    'a path is never told a route of another method or of another part of the API: %s %s',
    (method, path) => {
      expect(messageOf(method, path)).toBe(
        `There is no route ${method} ${path}; /.well-known/openapi.yaml lists all routes.`,
      );
    },
  );

  it('an unknown path is refused in the envelope of its family, or in OpenAI’s for an unknown family', () => {
    expect(unknown('GET', '/v1/chat/x').envelope).toBe('openai');
    expect(unknown('POST', '/v1/responses').envelope).toBe('openai');
    expect(unknown('POST', '/v1/messages/batches').envelope).toBe('anthropic');
    expect(unknown('POST', '/v1/v1/messages').envelope).toBe('anthropic');
    expect(unknown('POST', '/messages').envelope).toBe('anthropic');
    expect(unknown('POST', '/v1/mcp/x').envelope).toBe('openai');
    expect(unknown('GET', '/v1/developer/x').envelope).toBe('flat');
    expect(unknown('GET', '/v1').envelope).toBe('openai');
    expect(unknown('POST', '/chat/completions').envelope).toBe('openai');
    expect(unknown('GET', '/x').envelope).toBe('flat');
  });

  it('the 404 of a long unknown path repeats only a part of the path and costs almost nothing', () => {
    const message = String(messageOf('GET', `/v1/${'x/'.repeat(8_000)}`));
    expect(message.length).toBeLessThan(300);
  });

  it('the search for the nearest route of the longest compared path takes less than 50 ms', () => {
    const many = createUnknownRoute(
      Array.from({ length: 300 }, (_, i) => ({
        method: 'GET',
        envelope: 'flat' as const,
        path: `/v1/developer/agents/:id/thing-number-${i}/history`,
      })),
    );
    const long = [`/v1${'/ab'.repeat(40)}`, `/v1/developer/agents/1/${'x'.repeat(95)}/x`];
    for (const path of [...long, `/v1${'/thing-numbers-are'.repeat(6)}`]) {
      expect(messageOf('GET', path)).not.toContain('did you mean');
      const tookMs = Array.from({ length: 5 }, () => {
        const startedMs = performance.now();
        many('GET', path);
        return performance.now() - startedMs;
      });
      expect(Math.min(...tookMs)).toBeLessThan(50);
    }
  });
});
