import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import { silentLog } from '../../../src/kernel/log.ts';
import { createLedger, type LiveLedger } from '../../../src/ledger/engine/ledger.ts';
import { createBalanceStore } from '../../../src/ledger/store/balances.ts';
import { checkInvariants } from '../../../src/ledger/store/check-invariants.ts';
import type { ModelEntry, RateTexts } from '../../../src/models/catalogue/builtin/builtin-model.ts';
import type { Modality } from '../../../src/models/catalogue/catalogue.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { AGENT_KEY, type GatewayWorld, gatewayWorld } from '../../support/gateway-world.ts';
import { seedAgent } from '../../support/ledger-world.ts';
import { listenOnLoopback } from '../../support/listen-on-loopback.ts';
import { addPolicy, type PolicyWish } from '../../support/policies.ts';
import { wavFile } from '../../support/sound-files.ts';

const FUNDS = 100_000_000n;
const MILLION = 1_000_000;
const TOKENS: RateTexts = { text_input_token: '2.5', text_output_token: '10' };

let database: TestDatabase;
let ledger: LiveLedger;
let upstream: Awaited<ReturnType<typeof listenOnLoopback>>;
let gateway: GatewayWorld;
let agent = { agentId: 0, keyId: 0, accountId: '' };
/** What the upstream tells of a chat. */
let usage = { prompt_tokens: MILLION, completion_tokens: MILLION };
let asked: Record<string, unknown>[] = [];

beforeAll(async () => {
  database = await testDatabase();
  const node = { nodeId: 'gateway-caps', leaseEpoch: 1 };
  const store = createBalanceStore({ sql: database.sql, node });
  ledger = createLedger({ store, clock: systemClock, log: silentLog });
  upstream = await listenOnLoopback(
    createServer((request, response) => void lie(request, response)),
  );
});

beforeEach(async () => {
  usage = { prompt_tokens: MILLION, completion_tokens: MILLION };
  asked = [];
  const seeded = await seedAgent(database.sql);
  const [row] = await database.sql<{ account_id: string }[]>`
    select account_id from agents where id = ${seeded.agentId}`;
  agent = { ...seeded, accountId: row?.account_id ?? '' };
  const { agentId, keyId } = agent;
  await ledger.credit({ agentId, amountRaw: FUNDS, reference: `caps ${agentId}` });
  const provider = { baseUrl: upstream.baseUrl, dialect: 'openai' } as const;
  const model = (name: string, modality: Modality, rates: RateTexts): ModelEntry => ({
    id: `acme/${name}`,
    modality,
    sources: [{ rail: 'direct-account', provider: 'acme', upstreamModel: name, rates }],
  });
  const models = [
    model('chat', 'text', TOKENS),
    model('streamed', 'text', TOKENS),
    model('vectors', 'embedding', { text_input_token: '2.5' }),
    model('voice', 'tts', { text_input_token: '0.6', audio_output_token: '12' }),
    model('ears', 'stt', { audio_second: '100' }),
    model('token-ears', 'stt', { audio_input_token: '6', text_output_token: '10' }),
  ];
  gateway = await gatewayWorld({ ledger, agentId, keyId, providers: { acme: provider }, models });
});

afterEach(async () => gateway[Symbol.asyncDispose]());

afterAll(async () => {
  await upstream[Symbol.asyncDispose]();
  await ledger[Symbol.asyncDispose]();
  const violations = await checkInvariants(database.sql);
  await database[Symbol.asyncDispose]();
  expect(violations).toEqual([]);
});

/** An upstream of the OpenAI dialect that has used a million of everything, whatever it was asked. */
async function lie(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString('latin1');
  const body = text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : {};
  asked.push(body);
  const tokens = { input_tokens: MILLION, output_tokens: MILLION, total_tokens: 2 * MILLION };
  const events = (...all: object[]) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of all) response.write(`data: ${JSON.stringify(event)}\n\n`);
    response.end('data: [DONE]\n\n');
  };
  const json = (answer: object) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer));
  };
  const choice = {
    index: 0,
    message: { role: 'assistant', content: 'Hi.' },
    finish_reason: 'stop',
  };
  const delta = { index: 0, delta: { content: 'Hi.' }, finish_reason: 'stop' };
  if (request.url?.endsWith('/embeddings')) {
    const data = [{ object: 'embedding', index: 0, embedding: [0.5] }];
    json({ object: 'list', data, usage: { prompt_tokens: MILLION, total_tokens: MILLION } });
  } else if (request.url?.endsWith('/speech')) {
    const audio = Buffer.alloc(480).toString('base64');
    events({ type: 'speech.audio.delta', audio }, { type: 'speech.audio.done', usage: tokens });
  } else if (request.url?.endsWith('/transcriptions')) {
    json({ text: 'hi', duration: 100_000, usage: { type: 'tokens', ...tokens } });
  } else if (body.stream === true) {
    events({ choices: [delta] }, { choices: [], usage });
  } else {
    json({ id: 'c', object: 'chat.completion', choices: [choice], usage });
  }
}

const TASK = { 'x-svc-task-id': 'errand' };
const messages = [{ role: 'user', content: 'Good morning?' }];
const post = (path: string, body: object) => gateway.request(path, { body, headers: TASK });
const chat = (more: object = {}) =>
  post('/chat/completions', { model: 'acme/chat', messages, ...more });

function hear(model: string): Promise<Response> {
  const form = new FormData();
  form.set('model', model);
  form.set(
    'file',
    new Blob([Uint8Array.from(wavFile({ data: new Uint8Array(32_000) }))], { type: 'audio/wav' }),
    'a.wav',
  );
  const headers = { authorization: `Bearer ${AGENT_KEY}`, ...TASK };
  return fetch(`${gateway.baseUrl}/audio/transcriptions`, { method: 'POST', headers, body: form });
}

const BUYS: Readonly<Record<string, () => Promise<Response>>> = {
  chat: () => chat({ max_tokens: 50 }),
  'streamed chat': () => chat({ model: 'acme/streamed', max_tokens: 50, stream: true }),
  embeddings: () => post('/embeddings', { model: 'acme/vectors', input: 'Good morning?' }),
  speech: () =>
    post('/audio/speech', {
      model: 'acme/voice',
      input: 'Good morning.',
      voice: 'alloy',
      response_format: 'pcm',
      stream_format: 'sse',
    }),
  'a transcript by the second': () => hear('acme/ears'),
  'a transcript by tokens': () => hear('acme/token-ears'),
};

type Cap = Pick<PolicyWish, 'kind' | 'matchKey'> & { readonly isTeams?: boolean };
const CAPS: Readonly<Record<string, () => Cap>> = {
  'a task': () => ({ kind: 'task', matchKey: 'errand' }),
  'a session': () => ({ kind: 'session' }),
  'a key': () => ({ kind: 'key', matchKey: String(agent.keyId) }),
  'an API': () => ({ kind: 'api', matchKey: 'acme' }),
  'a team': () => ({ kind: 'session', isTeams: true }),
};

const cap = ({ isTeams = false, ...wanted }: Cap, limitRaw: bigint, action?: 'suspend_agent') =>
  addPolicy(database.sql, {
    accountId: agent.accountId,
    agentId: isTeams ? null : agent.agentId,
    ...wanted,
    limitRaw,
    ...(action && { action }),
  });

async function book() {
  const [funds] = await database.sql<{ consumed: string; held: string }[]>`
    select consumed_raw::text as consumed, held_raw::text as held
    from agent_funds where agent_id = ${agent.agentId}`;
  const [charged] = await database.sql<{ sum: string }[]>`
    select coalesce(sum(cost_raw), 0)::text as sum from charges where agent_id = ${agent.agentId}`;
  return {
    consumedRaw: BigInt(funds?.consumed ?? -1),
    heldRaw: BigInt(funds?.held ?? -1),
    chargedRaw: BigInt(charged?.sum ?? -1),
  };
}

const statusOfAgent = async () =>
  (
    await database.sql<{ status: string }[]>`select status from agents where id = ${agent.agentId}`
  )[0]?.status;

describe('an upstream that lies about what it has used', () => {
  for (const [cappedThing, capOf] of Object.entries(CAPS)) {
    it(`an upstream that overstates its usage is never paid beyond the cap of ${cappedThing}, for any purchase`, async () => {
      for (const [bought, buy] of Object.entries(BUYS)) {
        const before = await book();
        const shortfallBefore = ledger.counters.shortfallRaw;
        const limitRaw = before.consumedRaw + 20_000n;
        if (before.consumedRaw === 0n) await cap(capOf(), limitRaw);
        const response = await buy();
        expect(response.status, bought).toBe(200);
        await response.text();
        await expect.poll(async () => (await book()).heldRaw).toBe(0n);
        const after = await book();
        expect(after.consumedRaw, bought).toBeGreaterThan(before.consumedRaw);
        expect(after.consumedRaw, bought).toBeLessThanOrEqual(20_000n);
        expect(after.chargedRaw, bought).toBe(after.consumedRaw);
        expect(ledger.counters.shortfallRaw, bought).toBeGreaterThan(shortfallBefore);
      }
    });
  }

  it('an upstream that overstates its usage is not called for a while, for any kind of purchase', async () => {
    for (const [bought, buy] of Object.entries(BUYS)) {
      const before = asked.length;
      await (await buy()).text();
      await expect.poll(async () => (await book()).heldRaw).toBe(0n);
      const again = await buy();
      await again.text();
      expect([again.status, again.headers.has('retry-after')], bought).toEqual([503, true]);
      expect(asked.length - before, bought).toBeLessThanOrEqual(1);
    }
  });
});

describe('a call that a cap leaves less for', () => {
  for (const [cappedThing, capOf] of Object.entries(CAPS)) {
    it(`a chat’s output limit is lowered to what the cap of ${cappedThing} leaves, and reported in a header`, async () => {
      usage = { prompt_tokens: 1_200, completion_tokens: 400 };
      await cap(capOf(), 40_000n);
      const response = await chat();
      expect([response.status, response.headers.get('x-svc-cost-usdc')]).toEqual([200, '7350']);
      const applied = response.headers.get('x-svc-max-tokens-applied') ?? '';
      expect(applied).toMatch(/^\d+; reason=cap$/);
      expect(asked.at(-1)).toMatchObject({ max_tokens: Number.parseInt(applied, 10) });
    });
  }

  it('a kill-switch cap suspends its agent only when even the shortest useful answer does not fit', async () => {
    usage = { prompt_tokens: 1, completion_tokens: 1 };
    await cap(CAPS['a session']?.() ?? { kind: 'session' }, 500n, 'suspend_agent');
    expect((await chat()).status).toBe(200);
    expect(await statusOfAgent()).toBe('active');
    const long = [{ role: 'user', content: 'x'.repeat(1_000) }];
    const refused = await chat({ messages: long });
    expect(refused.status).toBe(402);
    expect(await statusOfAgent()).toBe('suspended');
  });

  it('a chat’s longest answer fits the smallest of several caps and the balance', async () => {
    usage = { prompt_tokens: 1, completion_tokens: 1 };
    await cap({ kind: 'session' }, 30_000n);
    await cap({ kind: 'session', isTeams: true }, 10_000n);
    await cap({ kind: 'task', matchKey: 'errand' }, 20_000n);
    const response = await chat();
    expect(response.status).toBe(200);
    const tokens = Number.parseInt(response.headers.get('x-svc-max-tokens-applied') ?? '', 10);
    // Ten USD per million and 5 %: the cap of the team, less the prompt.
    expect(tokens).toBeGreaterThan(900);
    expect(tokens).toBeLessThanOrEqual(952);
  });

  it('a chat’s longest answer follows the cap that the value of its task sets', async () => {
    usage = { prompt_tokens: 1, completion_tokens: 1 };
    const bounds = { limitRaw: 20_000n, limitFloorRaw: 10_000n, limitCeilingRaw: 30_000n };
    const { accountId, agentId } = agent;
    await addPolicy(database.sql, { accountId, agentId, kind: 'session', ...bounds });
    const tokensAt = async (taskValue: number) => {
      const headers = { ...TASK, 'x-svc-task-value': String(taskValue) };
      const body = { model: 'acme/chat', messages };
      const response = await gateway.request('/chat/completions', { body, headers });
      expect(response.status).toBe(200);
      return Number.parseInt(response.headers.get('x-svc-max-tokens-applied') ?? '', 10);
    };
    // Each call before was charged 14, 56 are held for the prompt, and a token of the answer is 10.5.
    expect([await tokensAt(1_000), await tokensAt(10_000), await tokensAt(90_000)]).toEqual(
      [10_000, 20_000, 30_000].map((capRaw, i) => Math.floor((capRaw - 14 * i - 56) / 10.5)),
    );
  });

  it('concurrent chats are never charged beyond their session cap', async () => {
    usage = { prompt_tokens: 21, completion_tokens: 100_000 };
    await cap({ kind: 'session' }, 40_000n);
    const answers = await Promise.all(Array.from({ length: 12 }, () => chat()));
    for (const answer of answers) expect([200, 402, 503]).toContain(answer.status);
    await expect.poll(async () => (await book()).heldRaw).toBe(0n);
    expect((await book()).consumedRaw).toBeLessThanOrEqual(40_000n);
  });
});
