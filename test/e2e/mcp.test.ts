import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HTTP_LIMITS } from '../../src/http/limits.ts';
import { MCP_LIMITS } from '../../src/mcp/limits.ts';
import { REPORT_TOOLS } from '../../src/mcp/tools/reports.ts';
import {
  type AwareAgent,
  type AwareWorld,
  bearer,
  startAwareWorld,
} from '../support/aware-world.ts';
import { connectEarlier, connectModern, type McpSession } from '../support/mcp-client.ts';
import { type Ask, moneyOf, type Told } from '../support/whole-world.ts';

let aware: AwareWorld;
let agent: AwareAgent & AsyncDisposable;
beforeAll(async () => {
  aware = await startAwareWorld({ PUBLIC_URL: 'https://api.example' });
  agent = await aware.agentWith(1_000_000n);
});
afterAll(() => aware[Symbol.asyncDispose]());

const door = (key = agent.key, headers?: Record<string, string>) =>
  Object.assign({ url: aware.world.url, key }, headers && { headers });
const post = (request: Ask): Promise<Told> =>
  aware.to('/v1/mcp', { method: 'POST', headers: bearer(agent.key), ...request });
const message = (method: string, params: object = {}, id: string | number = 1) => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
});
const callOf = (name: string, args: object = {}, id: string | number = 1) =>
  message('tools/call', { name, arguments: args }, id);
const spent = async (work: () => Promise<unknown>): Promise<bigint> => {
  const before = await moneyOf(aware.world.sql, agent.agentId);
  await work();
  const after = await moneyOf(aware.world.sql, agent.agentId);
  expect(after.held).toBe(0n);
  expect(before.spendable - after.spendable).toBe(after.charged - before.charged);
  return after.charged - before.charged;
};

const TOOLS = [
  'balance',
  'estimate',
  'call_vendor',
  'speak',
  'transcribe',
  'think',
  ...REPORT_TOOLS.map(({ name }) => name),
  'remember',
  'recall',
];
const QUESTION = { prompt: 'What is 2 + 3?' };
/** Of its answer. */
const COST = 3n;

describe.each([
  ['version 1', '2025-11-25', connectEarlier],
  ['version 2', '2026-07-28', connectModern],
])('the SDK’s client of %s', (_, revision, connect) => {
  let session: McpSession;
  beforeAll(async () => {
    session = await connect(door());
  });
  afterAll(() => session[Symbol.asyncDispose]());

  it('the MCP client negotiates its protocol revision and lists the tools', async () => {
    expect(session.version).toBe(revision);
    expect(await session.names()).toEqual(TOOLS);
  });

  it('the MCP client stores and recalls a memory at no cost', async () => {
    const fact = `The boat of revision ${revision} is called Nina.`;
    const cost = await spent(async () => {
      await session.call('remember', { texts: [fact] });
      await expect
        .poll(async () => JSON.stringify(await session.call('recall', { query: 'boat name' })))
        .toContain(fact);
    });
    expect(cost).toBe(0n);
  });

  it('the MCP client reads the balance and a price at no cost', async () => {
    const cost = await spent(async () => {
      const told = await session.call('balance');
      const { spendable } = await moneyOf(aware.world.sql, agent.agentId);
      expect(told.structuredContent).toMatchObject({
        balance: { spendableRaw: `${spendable}` },
        remaining: { available: `${spendable}` },
        sessionLimit: expect.anything(),
      });
      const price = await session.call('estimate', { model: 'local/flite', characters: 1_000 });
      expect(price.structuredContent).toMatchObject({ cost_raw: '1050', cost_usdc: '0.001050' });
      expect(JSON.parse(price.content[0]?.text ?? '')).toEqual(price.structuredContent);
    });
    expect(cost).toBe(0n);
  });

  it('the MCP client speaks a text and has it transcribed, each for the cost that the ledger has', async () => {
    let sound = '';
    const spoken = await spent(async () => {
      const told = await session.call('speak', { text: 'Good morning.', format: 'wav' });
      expect(told.structuredContent).toMatchObject({ mimeType: 'audio/wav', costRaw: '14' });
      const [audio] = told.content;
      expect(audio).toMatchObject({ type: 'audio', mimeType: 'audio/wav' });
      sound = audio?.data ?? '';
      expect(Buffer.from(sound, 'base64').toString('latin1', 0, 4)).toBe('RIFF');
    });
    expect(spoken).toBe(14n);
    let told = '';
    const heard = await spent(async () => {
      const { content, structuredContent: facts } = await session.call('transcribe', {
        audio: sound,
      });
      expect(facts).toMatchObject({ text: expect.stringContaining('morning') });
      expect(content[0]?.text).toContain(facts.text);
      told = String(facts.costRaw);
    });
    expect(heard).toBeGreaterThan(0n);
    expect(told).toBe(`${heard}`);
  });

  it('the MCP client can transcribe spoken audio without naming its format', async () => {
    const { content } = await session.call('speak', { text: 'Good morning.' });
    expect(content[0]?.mimeType).toBe('audio/mpeg');
    const heard = await session.call('transcribe', { audio: content[0]?.data });
    expect(heard.structuredContent).toMatchObject({ text: expect.stringContaining('morning') });
  });

  it('the MCP client gets a response of a model', async () => {
    const told = await session.call('think', QUESTION);
    expect(told.content[0]?.text).toContain('5');
    expect(told.structuredContent).toMatchObject({ finishReason: 'stop', costUsdc: '0.000003' });
  });

  it('the MCP client gets a refusal as a tool result, with the error code of the route', async () => {
    for (const [name, args, told] of [
      ['think', { ...QUESTION, model: 'no/such' }, { error: 'model_not_found', status: 404 }],
      ['speak', { text: '' }, { error: 'Invalid request', status: 400 }],
      ['speak', { text: 'a'.repeat(601), format: 'wav' }, { error: 'Invalid request' }],
      ['transcribe', { audio: '?' }, { error: 'invalid_request', status: 400 }],
      ['transcribe', { audio: 'AAAA' }, { error: 'invalid_request', status: 400 }],
      ['call_vendor', { url: 'http://127.0.0.1/' }, { error: 'blocked_destination', status: 400 }],
    ] as const) {
      const { content, isError, structuredContent } = await session.call(name, args);
      expect({ name, isError, ...structuredContent }).toMatchObject({
        name,
        isError: true,
        ...told,
      });
      expect(content[0]?.text).toContain(told.error);
    }
    await expect(session.call('rob_a_bank')).rejects.toThrow('There is no tool "rob_a_bank"');
  });

  it('the MCP client pays once for a repeated call with the same key', async () => {
    const key = `again ${revision}`;
    const cost = await spent(async () => {
      const first = await session.call('think', QUESTION, key);
      const second = await session.call('think', QUESTION, key);
      expect(first.structuredContent.replayed).toBeUndefined();
      expect(second.structuredContent).toEqual({ ...first.structuredContent, replayed: true });
    });
    expect(cost).toBe(COST);
    const crowd = await spent(async () => {
      const calls = Array.from({ length: 10 }, () =>
        session.call('think', QUESTION, `${key} crowd`),
      );
      for (const { isError, structuredContent: told } of await Promise.all(calls)) {
        if (isError) expect(told).toMatchObject({ error: 'request_in_flight', mayRetry: false });
        else expect(told).toMatchObject({ costRaw: `${COST}` });
      }
    });
    expect(crowd).toBe(COST);
    expect(await session.call('speak', { text: 'Hello.' }, key)).toMatchObject({
      isError: true,
      structuredContent: { error: 'idempotency_key_reused', mayRetry: false },
    });
  });
});

describe('money and permissions', () => {
  it('an MCP tool refuses a purchase that a cap does not cover, and charges nothing', async () => {
    await using capped = await aware.agentWith(1_000n);
    await aware.policy(capped.agentId, { kind: 'session', limitRaw: 1n });
    await using session = await connectEarlier(door(capped.key));
    for (const call of [
      session.call('think', QUESTION),
      session.call('speak', { text: 'Good morning.' }),
    ]) {
      expect(await call).toMatchObject({
        isError: true,
        structuredContent: { error: 'budget_exhausted', status: 402 },
      });
    }
    expect(await moneyOf(aware.world.sql, capped.agentId)).toMatchObject({
      spendable: 1_000n,
      held: 0n,
      charged: 0n,
    });
  });

  it('an MCP client with a read-only key can read, and buy nothing', async () => {
    const minted = await aware.to(`/v1/developer/agents/${agent.agentId}/keys`, {
      headers: aware.developer.headers,
      body: { permissions: 'read' },
    });
    await using session = await connectEarlier(door(String(minted.body.key)));
    expect((await session.call('balance')).isError).toBeUndefined();
    const told = await session.call('think', QUESTION);
    expect(told).toMatchObject({ isError: true, structuredContent: { status: 403 } });
  });

  it('a purchase under one Idempotency-Key is made once over MCP and HTTP together', async () => {
    const cost = await spent(async () => {
      const body = { model: 'local/guide', messages: [{ role: 'user', content: QUESTION.prompt }] };
      const headers = { ...bearer(agent.key), 'idempotency-key': 'both ways' };
      await aware.to('/v1/chat/completions', { headers, body });
      await using session = await connectEarlier(door());
      const told = await session.call('think', QUESTION, 'both ways');
      expect(told.structuredContent.replayed).toBe(true);
    });
    expect(cost).toBe(COST);
  });

  it('an MCP message repeated under one Idempotency-Key header is paid once, and the next message is paid again', async () => {
    const headers = { ...bearer(agent.key), 'idempotency-key': 'session-1' };
    const send = (id: string | number) => post({ headers, body: callOf('think', QUESTION, id) });
    const costs: bigint[] = [];
    for (const id of [1, 1, 2, '2', '2']) costs.push(await spent(() => send(id)));
    expect(costs).toEqual([COST, 0n, COST, COST, 0n]);
  });

  it('an MCP client that reuses message ids under one header gets the result of the call that it makes', async () => {
    const headers = { ...bearer(agent.key), 'idempotency-key': 'set once' };
    const ask = async (name: string, args: object) => {
      const { body } = await post({ headers, body: callOf(name, args) });
      return (body.result as { structuredContent: Record<string, unknown> }).structuredContent;
    };
    const first = await ask('think', QUESTION);
    expect(await ask('think', QUESTION)).toEqual({ ...first, replayed: true });
    const other = await ask('think', { prompt: 'What is 4 + 4?' });
    expect(other.text).toContain('8');
    expect(other.replayed).toBeUndefined();
    const spoken = await ask('speak', { text: 'Good morning.', format: 'wav' });
    expect(spoken).toMatchObject({ mimeType: 'audio/wav', costRaw: '14' });
  });

  it('an MCP tool buys nothing under an idempotency key that is no string', async () => {
    const cost = await spent(async () => {
      const { body } = await post({
        body: message('tools/call', {
          name: 'think',
          arguments: QUESTION,
          _meta: { idempotencyKey: 7 },
        }),
      });
      expect(body.result).toMatchObject({
        isError: true,
        structuredContent: { error: 'Invalid request', status: 400 },
      });
    });
    expect(cost).toBe(0n);
  });

  it('an MCP tool charges its purchase under the tags of the request headers', async () => {
    await post({
      headers: { ...bearer(agent.key), 'x-svc-task-id': 'by-mcp' },
      body: callOf('think', QUESTION),
    });
    const [row] = await aware.world.sql<{ task: string }[]>`
      select task_id as task from charges where agent_id = ${agent.agentId} and task_id is not null`;
    expect(row?.task).toBe('by-mcp');
  });
});

describe('the edge', () => {
  it('the MCP route answers a body that is no call with a JSON-RPC error and its HTTP status', async () => {
    const stranger = await post({
      headers: bearer(`svc_${'0'.repeat(64)}`),
      body: message('ping'),
    });
    expect(stranger).toMatchObject({
      status: 401,
      body: { jsonrpc: '2.0', id: null, error: { data: { error: 'Invalid API key' } } },
    });
    expect((await post({ headers: {}, body: message('ping') })).status).toBe(401);
    expect(await post({ body: '{' })).toMatchObject({
      status: 400,
      body: { id: null, error: { code: -32_700 } },
    });
    expect(await post({ body: 'x'.repeat(HTTP_LIMITS.mcp.bodyBytes + 1) })).toMatchObject({
      status: 413,
      body: { error: { data: { error: 'payload_too_large' } } },
    });
    const prose = callOf('think', {
      prompt: 'two words '.repeat(HTTP_LIMITS.mcp.json.textBytes / 10),
    });
    expect((await post({ body: prose })).status).toBe(413);
    const deep = `${'['.repeat(1_000)}${']'.repeat(1_000)}`;
    expect((await post({ body: deep })).status).toBe(400);
    expect((await post({ body: { hello: 'world' } })).status).toBe(400);
    expect((await post({ body: message('tools/none') })).body).toMatchObject({
      id: 1,
      error: { code: -32_601 },
    });
  });

  it('the MCP route has no streams and no sessions', async () => {
    for (const method of ['GET', 'DELETE']) {
      const told = await aware.to('/v1/mcp', { method, headers: bearer(agent.key) });
      expect([told.status, told.headers.get('allow')]).toEqual([405, 'POST, OPTIONS']);
    }
    const opened = await post({
      body: message('initialize', {
        protocolVersion: '2025-06-18',
        capabilities: {},
        clientInfo: { name: 'test', version: '1' },
      }),
    });
    expect(opened.headers.get('mcp-session-id')).toBeNull();
    expect(opened.headers.get('content-type')).toBe('application/json');
    expect(opened.body).toMatchObject({ result: { protocolVersion: '2025-06-18' } });
    const note = { jsonrpc: '2.0', method: 'notifications/initialized' };
    expect((await post({ body: note })).status).toBe(202);
    const unknown = { ...bearer(agent.key), 'mcp-protocol-version': '1999-01-01' };
    expect((await post({ headers: unknown, body: message('tools/list') })).status).toBe(400);
  });

  it('the MCP route accepts only browser origins of this server and of localhost', async () => {
    const statusFrom = async (origin: string) =>
      (await post({ headers: { ...bearer(agent.key), origin }, body: message('ping') })).status;
    const own = 'https://api.example http://localhost:6274 http://127.0.0.1:1 http://[::1]';
    const foreign = 'https://evil.example http://api.example null http://localhost.evil.example';
    const statuses: number[] = [];
    for (const origin of `${own} ${foreign}`.split(' ')) statuses.push(await statusFrom(origin));
    expect(statuses).toEqual([200, 200, 200, 200, 403, 403, 403, 403]);
  });

  it('the MCP route answers a batch whole, within its limits', async () => {
    const both = await post({ body: [callOf('balance', {}, 'a'), message('ping', {}, 'b')] });
    expect(both.status).toBe(200);
    const ids = (both.body as unknown as { id: string }[]).map(({ id }) => id).sort();
    expect(ids).toEqual(['a', 'b']);
    const cancel = {
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId: 'c' },
    };
    const cancelled = await post({ body: [callOf('balance', {}, 'c'), cancel] });
    expect(cancelled.status).toBe(200);
    expect((await post({ body: [cancel] })).status).toBe(202);
    const many = Array.from({ length: MCP_LIMITS.batch + 1 }, (_, id) => message('ping', {}, id));
    expect((await post({ body: many })).status).toBe(400);
    expect((await post({ body: [] })).status).toBe(400);
    const twice = [message('ping'), message('ping')];
    expect((await post({ body: twice })).status).toBe(400);
  });
});

describe('the session that is documented', () => {
  const page = readFileSync(new URL('../../docs/api-behaviour/mcp.md', import.meta.url), 'utf8');
  const lines = [...page.matchAll(/^→ (.*)\n← (\d+) ?(.*)$/gm)].map(
    ([, sent = '', status, told = '']) => ({ sent: JSON.parse(sent), status, told }),
  );

  /** The names of all members, without values: ids and times differ, and texts are left out on the page. */
  const shapeOf = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.length === 0 ? [] : [shapeOf(value[0])];
    if (typeof value !== 'object' || value === null) return typeof value;
    return Object.fromEntries(Object.entries(value).map(([name, of]) => [name, shapeOf(of)]));
  };

  it('the MCP session of the documentation gets the documented responses, step by step', async () => {
    expect(lines.map(({ sent }) => sent.method)).toEqual([
      'initialize',
      'notifications/initialized',
      'tools/list',
      'tools/call',
      'tools/call',
    ]);
    for (const { sent, status, told } of lines) {
      const answer = () => post({ body: sent });
      if (sent.params?.name === 'recall') {
        // What was remembered is found once it is indexed.
        await expect
          .poll(async () => JSON.stringify((await answer()).body))
          .toContain('chunk_content');
      }
      const { status: now, body } = await answer();
      expect(String(now)).toBe(status);
      if (told !== '' && !told.includes('…,')) {
        expect(shapeOf(body)).toEqual(shapeOf(JSON.parse(told)));
      }
    }
  });
});
