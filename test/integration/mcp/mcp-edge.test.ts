import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAnswerKeeper } from '../../../src/idempotency/keep-answers.ts';
import { createOutcomeKeeper } from '../../../src/idempotency/keep-outcomes.ts';
import { IDEMPOTENCY_LIMITS } from '../../../src/idempotency/limits.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { silentLog } from '../../../src/kernel/log.ts';
import { systemRandom } from '../../../src/kernel/random.ts';
import { MAY_RETRY } from '../../../src/kernel/refusal.ts';
import { MCP_LIMITS } from '../../../src/mcp/limits.ts';
import { createMcpServer } from '../../../src/mcp/mcp-server.ts';
import type { Memory } from '../../../src/memory/memory.ts';
import { mcp } from '../../../src/routes/mcp.ts';
import { bearer, type Edge, KEYS, startEdge } from '../../support/edge.ts';
import { memoryKeys } from '../../support/fakes/memory-keys.ts';
import { connectEarlier } from '../../support/mcp-client.ts';

type Ran = { readonly op: string; readonly agentId: number; readonly body: unknown };

const ran: Ran[] = [];
/** Calls that wait in the memory until they are let go. */
const waiting: (() => void)[] = [];
const memory: Memory = {
  recall: async () => undefined,
  async run(op, { agentId }, body) {
    ran.push({ op, agentId, body });
    const { query } = body as { query?: string };
    if (query === 'wait') await new Promise<void>((resolve) => waiting.push(resolve));
    if (query === 'lost')
      return { status: 404, body: { error: 'tenant_not_found', message: 'No.' }, headers: {} };
    if (query === 'away') return { status: 503, body: { error: 'away' }, headers: MAY_RETRY };
    if (query === 'bug') throw new Error('the secret');
    return { status: 200, body: { result: { success: true, data: { op } } }, headers: {} };
  },
};

let edge: Edge;
beforeAll(async () => {
  const server = createMcpServer({
    clock: systemClock,
    log: silentLog,
    publicUrl: undefined,
    memory,
  });
  edge = await startEdge({ routes: [mcp], services: { mcp: server } });
});
afterAll(() => edge[Symbol.asyncDispose]());

const open = (key: string = KEYS.agent) => connectEarlier({ url: edge.url, key });

describe('the memory of an agent', () => {
  it('the MCP server offers remember and recall, each on the memory of the calling agent', async () => {
    await using session = await open(KEYS.otherAgent);
    expect(await session.names()).toEqual(expect.arrayContaining(['remember', 'recall']));
    ran.length = 0;
    const kept = await session.call('remember', { texts: ['a', 'b'], infer: true, namespace: 'n' });
    expect(kept.structuredContent).toEqual({ result: { success: true, data: { op: 'ingest' } } });
    await session.call('recall', { query: 'a?', mode: 'keyword', tenantId: 'other' });
    const memories = [
      { text: 'a', infer: true },
      { text: 'b', infer: true },
    ];
    expect(ran).toEqual([
      { op: 'ingest', agentId: 8, body: { type: 'memory', memories, subTenantId: 'n' } },
      {
        op: 'query',
        agentId: 8,
        body: { type: 'memory', query: 'a?', mode: 'keyword', maxResults: 10 },
      },
    ]);
  });

  it('a read-only key may recall and not remember over MCP', async () => {
    await using session = await open(KEYS.agentReadOnly);
    ran.length = 0;
    expect((await session.call('recall', { query: 'a' })).isError).toBeUndefined();
    expect(await session.call('remember', { texts: ['a'] })).toMatchObject({
      isError: true,
      structuredContent: { status: 403 },
    });
    expect(ran.map(({ op }) => op)).toEqual(['query']);
  });

  it('an MCP memory tool returns the refusals of the memory routes, and hides the text of an internal error', async () => {
    await using session = await open();
    expect((await session.call('recall', { query: 'lost' })).structuredContent).toEqual({
      error: 'tenant_not_found',
      message: 'No.',
      status: 404,
    });
    expect((await session.call('recall', { query: 'away' })).structuredContent).toEqual({
      error: 'away',
      message: 'away',
      status: 503,
      mayRetry: true,
    });
    const bug = await session.call('recall', { query: 'bug' });
    expect(bug).toMatchObject({ isError: true, structuredContent: { error: 'Internal error' } });
    expect(JSON.stringify(bug)).not.toContain('secret');
  });
});

describe('what one agent may take', () => {
  it('an agent may run a bounded number of MCP calls at a time, and other agents are not affected', async () => {
    await using session = await open();
    await using other = await open(KEYS.otherAgent);
    const most = MCP_LIMITS.callsPerAgent;
    const calls = Array.from({ length: most }, () => session.call('recall', { query: 'wait' }));
    while (waiting.length < most) await new Promise((resolve) => setTimeout(resolve, 5));
    expect((await session.call('recall', { query: 'more' })).structuredContent).toMatchObject({
      error: 'rate_limit_exceeded',
      reason: 'agent_tool_limit',
      status: 429,
      mayRetry: true,
    });
    expect((await other.call('recall', { query: 'mine' })).isError).toBeUndefined();
    for (const letGo of waiting.splice(0)) letGo();
    await Promise.all(calls);
    expect((await session.call('recall', { query: 'after' })).isError).toBeUndefined();
  });
});

const MODERN = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** Right mostly, and else anything. */
const mostly = <T>(right: fc.Arbitrary<T>) =>
  fc.oneof(
    { weight: 8, arbitrary: right as fc.Arbitrary<unknown> },
    { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 1 }) },
  );

/** A message that is right but for some of its members, which are anything. */
const message = fc
  .record(
    {
      jsonrpc: mostly(fc.constant('2.0')),
      id: mostly(fc.oneof(fc.nat(3), fc.string({ maxLength: 4 }))),
      method: mostly(
        fc.constantFrom(
          'initialize',
          'ping',
          'tools/list',
          'tools/call',
          'server/discover',
          'nothing',
          'subscriptions/listen',
          'logging/setLevel',
          'resources/list',
          'notifications/cancelled',
          'notifications/initialized',
        ),
      ),
      params: mostly(
        fc.record(
          {
            name: fc.constantFrom('recall', 'remember', 'balance', 'none', '__proto__'),
            arguments: mostly(fc.constant({ query: 'x' })),
            requestId: fc.nat(3),
            protocolVersion: fc.constantFrom('2025-06-18', '1', '2026-07-28'),
            capabilities: fc.constant({}),
            clientInfo: fc.constant({ name: 'a', version: '1' }),
            _meta: mostly(fc.constantFrom({}, MODERN)),
          },
          { requiredKeys: [] },
        ),
      ),
      result: fc.jsonValue({ maxDepth: 1 }),
    },
    { requiredKeys: ['jsonrpc', 'method'] },
  )
  .map(({ result, ...rest }) =>
    'id' in rest || result === undefined ? rest : { ...rest, result },
  );

it('the MCP server answers any JSON, and never with a server failure', async () => {
  const versions = fc.constantFrom(
    undefined,
    undefined,
    undefined,
    '2025-06-18',
    '2026-07-28',
    'x',
  );
  const methods = fc.constantFrom(undefined, 'tools/call', 'tools/list');
  const body = fc.oneof(message, fc.array(message, { maxLength: 4 }), fc.jsonValue());
  const answered = new Map<number, number>();
  await fc.assert(
    fc.asyncProperty(body, versions, methods, async (sent, version, method) => {
      const answer = await fetch(`${edge.url}/v1/mcp`, {
        method: 'POST',
        body: JSON.stringify(sent),
        headers: {
          ...bearer(KEYS.agent),
          ...(version !== undefined && { 'mcp-protocol-version': version }),
          ...(method !== undefined && { 'mcp-method': method, 'mcp-name': 'recall' }),
        },
        signal: AbortSignal.timeout(5_000),
      });
      const text = await answer.text();
      answered.set(answer.status, (answered.get(answer.status) ?? 0) + 1);
      expect(answer.status, text).toBeLessThan(500);
      if (answer.status !== 202) expect(JSON.parse(text)).toBeInstanceOf(Object);
      expect(text).not.toContain('secret');
    }),
    { numRuns: 400 },
  );
  // Right messages were among them.
  expect(answered.get(200)).toBeGreaterThan(10);
  expect(answered.get(400)).toBeGreaterThan(10);
});

it('the MCP remember tool stores a text once under an idempotency key, and again without one', async () => {
  const server = createMcpServer({
    clock: systemClock,
    log: silentLog,
    publicUrl: undefined,
    memory,
  });
  const shared = { clock: systemClock, log: silentLog, random: systemRandom };
  const keys = memoryKeys(() => systemClock.now(), IDEMPOTENCY_LIMITS.windowMs);
  const outcomes = createOutcomeKeeper({ ...shared, keys });
  const lease = { mayReap: () => true, tick: async () => {} };
  const idempotency = createAnswerKeeper({ ...shared, keys, outcomes, lease });
  await using keyed = await startEdge({ routes: [mcp], services: { mcp: server }, idempotency });
  await using session = await connectEarlier({ url: keyed.url, key: KEYS.agent });
  ran.length = 0;
  for (const key of ['k', 'k', undefined]) await session.call('remember', { texts: ['x'] }, key);
  expect(ran).toHaveLength(2);
});
