import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFakeLedger } from '../../support/fake-ledger.ts';
import { type GatewayWorld, gatewayWorld } from '../../support/gateway-world.ts';
import { listenOnLoopback } from '../../support/listen-on-loopback.ts';

const BIG = '12345678901234567890';
const ARGS = `{"id":${BIG},"share":1.0,"deep":[{"n":-0}]}`;
const SCHEMA = `{"type":"object","properties":{"n":{"type":"integer","maximum":9007199254740993}}}`;
const USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };

const toolCall = { id: 'call_1', type: 'function', function: { name: 'find', arguments: ARGS } };
const COMPLETION = JSON.stringify({
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'x',
  usage: USAGE,
  choices: [
    {
      index: 0,
      finish_reason: 'tool_calls',
      message: { role: 'assistant', content: null, tool_calls: [toolCall] },
    },
  ],
});
const MESSAGE = JSON.stringify({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'x',
  stop_reason: 'tool_use',
  content: [{ type: 'tool_use', id: 'toolu_1', name: 'find', input: 'ARGS' }],
  stop_sequence: null,
  usage: { input_tokens: 10, output_tokens: 5 },
}).replace('"ARGS"', ARGS);

/** Texts of requests as they came. */
const seen: string[] = [];
let gateway: GatewayWorld;
const closing: AsyncDisposable[] = [];

async function upstream(answer: string) {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      seen.push(Buffer.concat(chunks).toString());
      response.writeHead(200, { 'content-type': 'application/json' }).end(answer);
    });
  });
  const peer = await listenOnLoopback(server);
  closing.push(peer);
  return peer.baseUrl;
}

beforeAll(async () => {
  const ledger = createFakeLedger();
  await ledger.credit({ agentId: 1, amountRaw: 1_000_000n, reference: 'start' });
  const rates = { text_input_token: '1', text_output_token: '5' };
  const source = (provider: string) =>
    ({ rail: 'direct-account', provider, upstreamModel: 'x', rates }) as const;
  gateway = await gatewayWorld({
    ledger,
    secret: () => 'sk-upstream',
    providers: {
      gpt: { baseUrl: await upstream(COMPLETION), dialect: 'openai', apiKeyEnv: 'A' },
      claude: { baseUrl: await upstream(MESSAGE), dialect: 'anthropic', apiKeyEnv: 'B' },
    },
    models: [
      { id: 'acme/gpt', modality: 'text', sources: [source('gpt')] },
      { id: 'acme/claude', modality: 'text', sources: [source('claude')] },
    ],
  });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  for (const each of closing) await each[Symbol.asyncDispose]();
});

async function send(path: string, body: string): Promise<{ sent: string; said: string }> {
  const answer = await gateway.request(path, { body });
  const said = await answer.text();
  expect(answer.status, said).toBe(200);
  return { sent: seen.at(-1) ?? '', said };
}

const text = JSON.stringify;

const chat = (model: string) => `{"model":"${model}","max_tokens":100,"seed":${BIG},"top_p":1.0,
  "messages":[{"role":"user","content":"Hi"},
    {"role":"assistant","content":null,"tool_calls":[${text(toolCall)}]},
    {"role":"tool","tool_call_id":"call_1","content":"none"}],
  "tools":[{"type":"function","function":{"name":"find","parameters":${SCHEMA}}}]}`;

const message = (model: string) => `{"model":"${model}","max_tokens":100,
  "messages":[{"role":"user","content":"Hi"},
    {"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"find","input":${ARGS}}]},
    {"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"none"}]}],
  "tools":[{"name":"find","input_schema":${SCHEMA}}]}`;

describe('numbers that JavaScript would write otherwise keep their digits', () => {
  it('numbers in a chat keep their digits to an upstream of the same dialect', async () => {
    const { sent } = await send('/chat/completions', chat('acme/gpt'));
    expect(sent).toContain(`"seed":${BIG}`);
    expect(sent).toContain('"top_p":1.0');
    expect(sent).toContain(`"parameters":${SCHEMA}`);
  });

  it('numbers in a chat and its answer keep their digits when the upstream speaks Messages', async () => {
    const { sent, said } = await send('/chat/completions', chat('acme/claude'));
    expect(sent).toContain(`"input":${ARGS}`);
    expect(sent).toContain(`"input_schema":${SCHEMA}`);
    expect(said).toContain(`"arguments":${text(ARGS)}`);
  });

  it('numbers in a message keep their digits to an upstream of the same dialect', async () => {
    const { sent, said } = await send('/messages', message('acme/claude'));
    expect(sent).toContain(`"input":${ARGS}`);
    expect(sent).toContain(`"input_schema":${SCHEMA}`);
    expect(said).toContain(`"input":${ARGS}`);
  });

  it('numbers in a message and its answer keep their digits when the upstream speaks chat', async () => {
    const { sent, said } = await send('/messages', message('acme/gpt'));
    expect(sent).toContain(`"arguments":${text(ARGS)}`);
    expect(sent).toContain(`"parameters":${SCHEMA}`);
    expect(said).toContain(`"input":${ARGS}`);
  });

  it('numbers in a response request and its answer keep their digits when the upstream speaks chat', async () => {
    const tools = `[{"type":"function","name":"find","parameters":${SCHEMA}}]`;
    const body = `{"model":"acme/gpt","input":"Hi","store":false,"tools":${tools}}`;
    const { sent, said } = await send('/responses', body);
    expect(sent).toContain(`"parameters":${SCHEMA}`);
    expect(said).toContain(text(ARGS));
  });
});
