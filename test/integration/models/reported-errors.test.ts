import Anthropic from '@anthropic-ai/sdk';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventsIn } from '../../support/client-capture.ts';
import { AGENT_KEY } from '../../support/gateway-world.ts';
import { CHAT_MODEL, OWN_MODEL, responsesWorld } from '../../support/responses-world.ts';
import { textEvent } from '../../support/stream-upstream.ts';

let world: Awaited<ReturnType<typeof responsesWorld>>;
beforeEach(async () => {
  world = await responsesWorld();
});
afterEach(() => world[Symbol.asyncDispose]());

const TOO_LONG = {
  type: 'invalid_request_error',
  code: 'context_length_exceeded',
  message: 'Your input exceeds the context window of this model.',
  param: 'input',
};
const IMAGE = { code: 'invalid_image_url', message: 'The image cannot be fetched.' };
const { type: _, ...FLAT } = TOO_LONG;

const respond = (stream: boolean, model = OWN_MODEL) =>
  world.send('POST', '/responses', { model, input: 'x', stream });

describe('a fault of the request that an upstream reports within its answer', () => {
  it.each([
    ['an event with an error', true, { reports: { error: TOO_LONG } }, TOO_LONG],
    ['an event that is the error', true, { reports: FLAT }, TOO_LONG],
    ['a streamed response that failed', true, { status: 'failed', more: { error: IMAGE } }, IMAGE],
    ['a whole response that failed', false, { status: 'failed', more: { error: IMAGE } }, IMAGE],
  ] as const)(
    'a request error within an upstream’s response is its refusal, called once, free, and causes no backoff: %s',
    async (__, stream, script, error) => {
      world.own.play({ items: [], usage: null, ...script });
      for (let tries = 1; tries <= 4; tries++) {
        const answer = await respond(stream);
        expect(answer.status).toBe(400);
        expect(answer.headers.get('x-should-retry')).toBeNull();
        expect(answer.headers.get('content-type')).toContain('application/json');
        expect(await answer.json()).toEqual({
          error: { type: 'invalid_request_error', param: null, ...error },
        });
        expect(world.own.seen).toHaveLength(tries);
      }
      expect(await world.charged()).toBe(0n);
      world.own.play({ items: [{ say: ['Hi'] }] });
      expect((await respond(stream)).status).toBe(200);
    },
  );

  it('a request error within an upstream’s response reaches the openai client with its code', async () => {
    world.own.play({ items: [], reports: { error: TOO_LONG } });
    const asked = world.gateway.openai.responses.create({
      model: OWN_MODEL,
      input: 'x',
      stream: true,
    });
    await expect(asked).rejects.toMatchObject({ status: 400, code: 'context_length_exceeded' });
  });

  it('a request error at the beginning of a chat stream is a refusal in each dialect of the request', async () => {
    const error = { ...TOO_LONG, param: null };
    world.chat.play({ pieces: [`data: ${JSON.stringify({ error })}\n\n`] });
    const messages = [{ role: 'user' as const, content: 'x' }];
    const anthropic = new Anthropic({
      apiKey: AGENT_KEY,
      authToken: null,
      maxRetries: 0,
      baseURL: world.gateway.baseUrl.replace(/\/v1$/, ''),
    });
    const message = { model: CHAT_MODEL, max_tokens: 100, messages, stream: true } as const;
    const tooLong = `prompt is too long: ${error.message}`;
    for (let tries = 0; tries < 2; tries++) {
      const chat = await world.send('POST', '/chat/completions', {
        model: CHAT_MODEL,
        messages,
        stream: true,
      });
      expect([chat.status, await chat.json()]).toEqual([400, { error }]);
      const response = await respond(true, CHAT_MODEL);
      expect([response.status, await response.json()]).toEqual([400, { error }]);
      await expect(anthropic.messages.create(message)).rejects.toMatchObject({
        status: 400,
        error: { type: 'error', error: { type: 'invalid_request_error', message: tooLong } },
      });
    }
    expect(world.chat.seen).toHaveLength(6);
    expect(await world.charged()).toBe(0n);
  });
});

describe('another error that an upstream reports within its answer', () => {
  it('a rate limit error within an upstream’s response is answered with 429', async () => {
    for (const stream of [true, false]) {
      const error = { code: 'rate_limit_exceeded', message: 'Slow down.' };
      world.own.play({ items: [], status: 'failed', more: { error }, usage: null });
      for (let tries = 0; tries < 4; tries++) {
        const answer = await respond(stream);
        expect([answer.status, answer.headers.get('x-should-retry')]).toEqual([429, 'true']);
        await answer.body?.cancel();
      }
    }
    expect(world.own.seen).toHaveLength(8);
  });

  it('a server error or unknown error within an upstream’s response puts its source into backoff', async () => {
    for (const code of ['server_error', 'yet_to_come', 'vector_store_timeout']) {
      world.own.play({ items: [], reports: { code, message: 'x', param: null } });
      expect((await respond(true)).status).toBe(502);
    }
    expect((await respond(true)).status).toBe(503);
    expect(world.own.seen).toHaveLength(3);
  });
});

describe('an error behind the beginning of an answer', () => {
  const ends = async (model: string) => {
    const events = await eventsIn(await respond(true, model));
    expect(await world.charged()).toBeGreaterThan(0n);
    return events.at(-1);
  };

  it('an error after the first text of a response fails it with the code and the message of the upstream', async () => {
    world.own.play({ items: [{ say: ['Hi'] }], reports: { error: TOO_LONG } });
    expect(await ends(OWN_MODEL)).toMatchObject({
      type: 'response.failed',
      response: {
        status: 'failed',
        output: [{ type: 'message' }],
        error: {
          code: 'context_length_exceeded',
          message: expect.stringMatching(/ It said: Your input exceeds the context window/),
        },
      },
    });
  });

  it('an error after the first text of a chat upstream fails the response with its code and shortened message', async () => {
    const error = { code: 'cyber_policy', message: 'z'.repeat(10_000) };
    world.chat.play({ pieces: [textEvent('Hi'), `data: ${JSON.stringify({ error })}\n\n`] });
    const message = expect.stringMatching(/^.{100,400}$/);
    expect(await ends(CHAT_MODEL)).toMatchObject({
      response: { error: { code: 'cyber_policy', message } },
    });
  });
});
