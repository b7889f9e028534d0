import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { askingCallees, webhookCall } from '../support/webhook-call.ts';
import { startWorld, type WholeWorld } from '../support/whole-world.ts';

type Answer = (response: ServerResponse) => void;

let world: WholeWorld;
/** What a backend answers, and what it was asked, by the path that it has. */
const backends = new Map<string, { readonly answer: Answer; readonly asked: unknown[] }>();
const server = createServer(async (request: IncomingMessage, response) => {
  const backend = backends.get(request.url ?? '');
  backend?.asked.push(JSON.parse(await text(request)));
  backend?.answer(response);
});

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  world = await startWorld({ SSRF_ALLOW_LOCALHOST: '1' }, await askingCallees());
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  server.close();
});

/** Places a call whose agent has this backend as its responder, and waits for its end. */
async function called(name: string, answer: Answer) {
  const asked: Record<string, unknown>[] = [];
  backends.set(`/${name}`, { answer, asked });
  const { port } = server.address() as AddressInfo;
  const webhookUrl = `http://127.0.0.1:${port}/${name}`;
  const placed = await webhookCall(world, { name, webhookUrl, withinMs: 110_000 });
  const { callId } = placed;
  const [ended] = await world.sql<{ payload: Record<string, string> }[]>`
    select payload from events where correlation_id = ${callId} and name = 'call.ended'`;
  return { asked, ended: ended?.payload ?? {}, ...placed };
}

it('a webhook gets the words of the caller, and its answer is spoken to the end', async () => {
  const { agent, asked, callId, ended, from } = await called('webhooked', (response) => {
    response.setHeader('content-type', 'application/x-ndjson');
    response.write('{"text":"Let me see","interim":true}\n');
    response.write('{"text":"A lot."}\nnot json\n');
    response.end('{"text":" Goodbye.","end":true}\n');
  });
  expect(asked).toHaveLength(1);
  expect(asked[0]).toMatchObject({
    type: 'agent.message',
    channel: 'voice',
    callId,
    from,
    to: '+14155550199',
    direction: 'outbound',
    recentHistory: [{ role: 'assistant', content: 'Hello.' }],
  });
  expect(String(asked[0]?.text).length).toBeGreaterThan(5);
  expect(ended.reason).toBe('agent_ended');
  // The greeting and both final lines by the character; the backend itself costs nothing.
  const spoken = 'Hello.'.length + 'A lot.'.length + 'Goodbye.'.length;
  expect(Number(ended.ttsRaw)).toBeGreaterThanOrEqual(Math.ceil(spoken * 52.5));
  expect(Number(ended.ttsRaw)).toBeLessThanOrEqual(Math.ceil((spoken + 2) * 52.5));
  const models = await world.sql`
    select 1 from charges where agent_id = ${agent.agentId} and model is not null`;
  expect(models).toHaveLength(0);
}, 120_000);

it.each([
  [
    'an answer of 500',
    'fails',
    (response: ServerResponse) => response.writeHead(500).end('{"text":"x"}'),
  ],
  ['an empty answer', 'empty', (response: ServerResponse) => response.end('\n')],
] as const)(
  'a webhook with %s ends the call as llm_refused',
  async (_, name, refuse) => {
    const { ended } = await called(name, refuse);
    expect(ended.reason).toBe('llm_refused');
  },
  120_000,
);
