import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { HttpAnswer } from '../../../src/http/route/answer.ts';
import { requestErrors } from '../../../src/http/route/errors.ts';
import { renderError } from '../../../src/http/route/render-error.ts';
import { ok, type RouteCall, route } from '../../../src/http/route/route.ts';
import { idempotencyErrors } from '../../../src/idempotency/errors.ts';
import { JSON_LIMITS } from '../../../src/kernel/json/limits.ts';
import { silentLog } from '../../../src/kernel/log.ts';
import { callTool } from '../../../src/mcp/call-tool.ts';
import { MCP_LIMITS } from '../../../src/mcp/limits.ts';
import { createResultBudget } from '../../../src/mcp/result-budget.ts';
import { tool } from '../../../src/mcp/tool.ts';
import { costOf, toolResult } from '../../../src/mcp/tool-result.ts';
import { gatewayErrors } from '../../../src/models/errors.ts';
import { rateErrors } from '../../../src/rate-limit/errors.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const target = route()({
  method: 'POST',
  path: '/v1/target',
  credential: 'agent',
  summary: 'A target',
  body: z.unknown(),
  handle: () => ok({}),
} as const);

const probe = tool({
  name: 'probe',
  title: 'Probe',
  description: 'Asks',
  isReadOnly: false,
  input: z.object({ n: z.number().optional() }),
  async call({ n }, ask) {
    const answer = await ask(target, { body: { n } });
    return toolResult({ told: answer.bytes.toString(), ...costOf(answer) });
  },
});

const refused = (refusal: Error, envelope: 'flat' | 'openai') =>
  renderError(refusal, envelope, () => silentLog);

function calling(
  answer: HttpAnswer | ((call: RouteCall) => Promise<HttpAnswer>),
  { bytes = MCP_LIMITS.resultBytes as number, isNamed = true } = {},
) {
  const budget = createResultBudget(bytes);
  const asked: RouteCall[] = [];
  const left = new AbortController();
  const clock = new ManualClock();
  const make = (args: unknown = {}) =>
    callTool(clock, {
      tool: probe,
      args,
      budget,
      key: isNamed ? 'k' : undefined,
      signal: left.signal,
      log: silentLog,
      ask: async (call) => {
        asked.push(call);
        const told = typeof answer === 'function' ? await answer(call) : answer;
        return { answer: told, upstreamMs: 0 };
      },
    });
  return { asked, left, clock, make };
}

const fine = {
  status: 200,
  headers: { 'x-svc-cost-usdc': '1234567', 'x-svc-idempotent-replay': 'true' },
  body: 'hello',
};

const textOf = (char: string, chars: number) => ({ ...fine, body: char.repeat(chars) });

describe('a tool call', () => {
  it('a tool call calls its route under its idempotency key and returns its cost in dollars and raw units', async () => {
    const { asked, make } = calling(fine);
    expect((await make({ n: 1 })).structuredContent).toEqual({
      told: 'hello',
      costUsdc: '1.234567',
      costRaw: '1234567',
      replayed: true,
    });
    expect(asked).toMatchObject([{ route: target, body: { n: 1 }, idempotencyKey: 'k' }]);
  });

  it('a tool call with invalid arguments is refused before its route is called', async () => {
    const { asked, make } = calling(fine);
    expect(await make({ n: 'x' })).toMatchObject({
      isError: true,
      structuredContent: { error: 'Invalid request', status: 400, details: [{ path: ['n'] }] },
    });
    expect(asked).toHaveLength(0);
  });

  it.each([
    [
      'flat',
      rateErrors.rateLimited({
        reason: 'gateway_limit',
        retryAfterSeconds: 2,
        limitPerMinute: 3,
        resetAtSec: 60,
      }),
      true,
    ],
    ['openai', gatewayErrors.budgetExhausted({ available: '1' }), undefined],
    ['flat', idempotencyErrors.paidButLost({ hold: 'h', chargedRaw: '5' }), false],
  ] as const)(
    'a tool call returns the error code and the fields of a refusal by a %s route',
    async (envelope, refusal, mayRetry) => {
      const { content, isError, structuredContent } = await calling(
        refused(refusal, envelope),
      ).make();
      const { detail: _, message, ...fields } = refusal.fields;
      const { error, status } = refusal;
      expect(isError).toBe(true);
      expect(structuredContent).toEqual({
        ...fields,
        error,
        message,
        status,
        ...(mayRetry !== undefined && { mayRetry }),
      });
      expect(content).toEqual([{ type: 'text', text: `${error}: ${message}` }]);
    },
  );

  it('a tool call does not disclose the message of an internal error', async () => {
    const { make } = calling(() => Promise.reject(new Error('the secret')));
    const told = await make();
    expect(JSON.stringify(told)).not.toContain('secret');
    expect(told).toMatchObject({ isError: true, structuredContent: { error: 'Internal error' } });
  });

  /** A route that is under way until its client leaves; it says then what that cost. */
  const waiting = (end: HttpAnswer) => (call: RouteCall) =>
    new Promise<HttpAnswer>((resolve) =>
      call.signal.addEventListener('abort', () => resolve(end), { once: true }),
    );
  const unpaid = refused(requestErrors.clientClosed(), 'flat');

  it('a tool call that times out unpaid returns tool_timed_out and may be retried', async () => {
    const { clock, make } = calling(waiting(unpaid));
    const told = make();
    clock.advance(MCP_LIMITS.callMs);
    expect((await told).structuredContent).toMatchObject({
      error: 'tool_timed_out',
      mayRetry: true,
    });
  });

  it('a tool call that times out returns the response that was paid by then', async () => {
    const { clock, make } = calling(waiting(fine));
    const told = make();
    clock.advance(MCP_LIMITS.callMs);
    expect((await told).structuredContent).toMatchObject({ told: 'hello', costRaw: '1234567' });
  });

  it('a tool result counts as JSON against the result budget, and is refused with its cost when the budget is empty', async () => {
    const long = textOf('a', MCP_LIMITS.smallResultBytes);
    const told = await calling(long).make();
    const bytes = Buffer.byteLength(JSON.stringify(told));
    const { make } = calling(long, { bytes: 2 * bytes });
    expect([await make(), await make()]).toEqual([told, told]);
    expect(await make()).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('tool_results_too_large') }],
      structuredContent: {
        error: 'tool_results_too_large',
        status: 502,
        limit_bytes: MCP_LIMITS.resultBytes,
        costRaw: '1234567',
        mayRetry: true,
      },
    });
    const unnamed = calling(long, { bytes: bytes - 1, isNamed: false });
    expect((await unnamed.make()).structuredContent).toMatchObject({
      error: 'tool_results_too_large',
      costRaw: '1234567',
      mayRetry: false,
    });
  });

  it('a tool result counts against the result budget with its JSON escapes', async () => {
    const bytes = 4 * MCP_LIMITS.smallResultBytes;
    const ofTwo = async (char: string) =>
      (await calling(textOf(char, bytes / 3), { bytes }).make()).isError;
    expect(await ofTwo('a')).toBeUndefined();
    expect(await ofTwo('"')).toBe(true);
  });

  it('a small tool result is returned even when the result budget is empty', async () => {
    const { make } = calling(fine, { bytes: 0 });
    expect((await make()).structuredContent).toMatchObject({ told: 'hello' });
  });

  it('a batch of tool calls with long results yields to the event loop after each result', async () => {
    const { make } = calling(textOf('a', JSON_LIMITS.bytesPerTurn + 1));
    let done = 0;
    const calls = [1, 2, 3].map(() => make().then(() => done++));
    const seen = new Set<number>();
    while (done < 3) {
      await new Promise((resolve) => setImmediate(resolve));
      seen.add(done);
    }
    await Promise.all(calls);
    expect([1, 2, 3].filter((n) => seen.has(n))).toEqual([1, 2, 3]);
  });

  it('a tool call ends when its client leaves', async () => {
    const { left, make } = calling(waiting(unpaid));
    const told = make();
    left.abort();
    expect((await told).structuredContent).toMatchObject({ error: 'client_closed_request' });
  });
});
