import { beforeEach, describe, expect, it } from 'vitest';
import { AGENT_KEY } from '../../support/gateway-world.ts';
import { CHAT_MODEL, OWN_MODEL, responsesWorld } from '../../support/responses-world.ts';
import { wordEvents } from '../../support/stream-upstream.ts';

let world: Awaited<ReturnType<typeof responsesWorld>>;
const start = async (options: Parameters<typeof responsesWorld>[0] = {}) => {
  world = await responsesWorld(options);
  return () => world[Symbol.asyncDispose]();
};

const post = (body: object, headers: Record<string, string> = {}) =>
  fetch(`${world.gateway.baseUrl}/responses`, {
    method: 'POST',
    headers: { authorization: `Bearer ${AGENT_KEY}`, ...headers },
    body: JSON.stringify(body),
  });

describe('a response under an Idempotency-Key', () => {
  beforeEach(() => start());

  it.each([
    ['whole', CHAT_MODEL, false],
    ['streamed', CHAT_MODEL, true],
    ['whole', OWN_MODEL, false],
    ['streamed', OWN_MODEL, true],
  ])(
    'a response under an Idempotency-Key is bought once, %s of %s, and replayed byte for byte',
    async (_, model, stream) => {
      world.chat.play(({ stream: isStream }) =>
        isStream === true
          ? { pieces: [...wordEvents(['Hi']), 'data: [DONE]\n\n'] }
          : {
              headers: { 'content-type': 'application/json' },
              pieces: ['{"choices":[{"index":0,"message":{"role":"assistant","content":"Hi"}}]}'],
            },
      );
      const headers = { 'idempotency-key': `key ${model} ${stream}` };
      const first = await (await post({ model, input: 'x', stream }, headers)).text();
      const chargedRaw = await world.charged();
      expect(chargedRaw).toBeGreaterThan(0n);
      const again = await post({ model, input: 'x', stream }, headers);
      expect(await again.text()).toBe(first);
      expect(await world.charged()).toBe(chargedRaw);
      expect(world.own.seen.length + world.chat.seen.length).toBe(1);
    },
  );
});

describe('thoughts in the input of an upstream that keeps nothing', () => {
  beforeEach(() => start());

  const call = { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' };
  const result = { type: 'function_call_output', call_id: 'c', output: '1' };
  const sentFor = async (thoughts: object) => {
    const input = [
      { role: 'user', content: 'Rome?' },
      { type: 'reasoning', id: 'rs_1', summary: [], ...thoughts },
      { ...call, id: 'fc_1', status: 'completed' },
      result,
    ];
    expect((await post({ model: OWN_MODEL, input })).status).toBe(200);
    return { input, sent: world.own.seen.at(-1)?.body.input };
  };

  it('unsealed thoughts in a response’s input are left out, and the ids of the items that belong to them', async () => {
    for (const encrypted_content of [undefined, null]) {
      const { input, sent } = await sentFor({ encrypted_content });
      expect(sent).toEqual([input[0], call, result]);
    }
  });

  it('sealed thoughts in a response’s input are sent unchanged', async () => {
    const { input, sent } = await sentFor({ encrypted_content: 'sealed' });
    expect(sent).toEqual(input);
  });
});

describe('a response that the caller’s own key pays for', () => {
  beforeEach(() => start({ storedKeys: { open: 'sk-own', acme: 'sk-own' } }));

  it('a response with the caller’s own key may use hosted tools and reasoning modes, and costs the fee alone', async () => {
    const tools = [{ type: 'web_search' }];
    const prompt = { id: 'pmpt_1' };
    const input = [{ role: 'user', content: [{ type: 'input_file', file_id: 'file_1' }] }];
    const reasoning = { mode: 'pro' };
    const answer = await post({ model: OWN_MODEL, input, tools, prompt, reasoning });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-svc-payment')).toBe('byok');
    expect(world.own.seen.at(-1)?.body).toMatchObject({
      input,
      tools,
      prompt,
      reasoning,
      store: false,
    });
    expect(await world.charged()).toBe(2_000n);
  });

  it('a response with the caller’s own key and hosted tools is refused for a chat upstream, which is not called', async () => {
    const answer = await post({ model: CHAT_MODEL, input: 'x', tools: [{ type: 'web_search' }] });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({
      error: { type: 'invalid_request_error', param: 'tools[0]' },
    });
    expect(world.chat.seen).toEqual([]);
    expect(await world.charged()).toBe(0n);
  });
});

describe('a model with sources of both dialects', () => {
  it('a response falls back to a chat source when the Responses source fails before its first event', async () => {
    const rates = { text_input_token: '1', text_output_token: '1' };
    const source = (provider: string) =>
      ({ rail: 'direct-account', provider, upstreamModel: 'vendor', rates }) as const;
    const stop = await start({
      models: [{ id: 'both/m', modality: 'text', sources: [source('open'), source('acme')] }],
    });
    for (const stream of [false, true]) {
      world.own.play({ items: [], status: 'failed', usage: null });
      world.chat.play(({ stream: isStream }) =>
        isStream === true
          ? { pieces: [...wordEvents(['Hi']), 'data: [DONE]\n\n'] }
          : {
              headers: { 'content-type': 'application/json' },
              pieces: ['{"choices":[{"index":0,"message":{"role":"assistant","content":"Hi"}}]}'],
            },
      );
      const answer = await post({ model: 'both/m', input: 'x', stream });
      expect(answer.status).toBe(200);
      expect(answer.headers.get('x-svc-attempts')).toBe('2');
      expect(await answer.text()).toContain('"Hi"');
    }
    await stop();
  });
});
