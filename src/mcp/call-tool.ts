import type { CallToolResult } from '@modelcontextprotocol/server';
import { requestErrors } from '../http/route/errors.ts';
import type { AskRoute } from '../http/route/route.ts';
import type { Clock } from '../kernel/clock.ts';
import { copyDigits } from '../kernel/json/digits.ts';
import { isLongJson } from '../kernel/json/parse-json.ts';
import type { Json } from '../kernel/json.ts';
import type { Log } from '../kernel/log.ts';
import { turnForLongWork } from '../kernel/long-work.ts';
import type { StopSignal } from '../kernel/stop-signal.ts';
import { mcpErrors } from './errors.ts';
import { MCP_LIMITS } from './limits.ts';
import type { ResultBudget } from './result-budget.ts';
import { type RouteAnswer, readAnswer } from './route-answer.ts';
import { type AskTool, RouteRefused, type Tool } from './tool.ts';
import { costOf, isRelayed, refusedResult, thrownResult } from './tool-result.ts';

export type McpToolCall = {
  readonly tool: Tool;
  /** Arguments of the call as the client sent them, before validation. */
  readonly args: unknown;
  /** Idempotency key of the call, under which it is paid for at most once. Undefined when it has none. */
  readonly key: string | undefined;
  /** Budget of bytes for all tool results of the HTTP request together. */
  readonly budget: ResultBudget;
  readonly ask: AskRoute;
  /** Fires when the client disconnects. */
  readonly signal: StopSignal;
  /** Time limit of the call in milliseconds. Absent: the limit of MCP calls. */
  readonly callMs?: number;
  readonly log: Log;
};

/**
 * Makes a call. A refusal becomes a result with `isError`, and the code and sentence of the refusal. Never rejects. A call that
 * takes too long is ended as if its client had left; anything paid by then is still returned. A result that exceeds the
 * remaining budget becomes a refusal that states the cost.
 */
export async function callTool(clock: Clock, call: McpToolCall): Promise<CallToolResult> {
  let cost: Json = {};
  let isLong = false;
  const result = await makeCall(clock, call, (answer) => {
    cost = costOf(answer);
    isLong ||= isLongJson(answer.bytes);
  });
  const fits = call.budget.take(result);
  // After the last result of a request, all results are written, which is long work as well.
  if (isLong) await turnForLongWork();
  if (fits) return result;
  const refusal = mcpErrors.resultsTooLarge(MCP_LIMITS.resultBytes, call.key !== undefined);
  const refused = thrownResult(refusal, call.log);
  return { ...refused, structuredContent: Object.assign({}, cost, refused.structuredContent) };
}

async function makeCall(
  clock: Clock,
  call: McpToolCall,
  onAnswer: (answer: RouteAnswer) => void,
): Promise<CallToolResult> {
  const { callMs = MCP_LIMITS.callMs, tool, log } = call;
  const over = new AbortController();
  const leave = () => over.abort();
  let isLate = false;
  const timer = clock.setTimeout(() => {
    isLate = true;
    over.abort();
  }, callMs);
  if (call.signal.aborted) leave();
  call.signal.addEventListener('abort', leave, { once: true });
  try {
    const parsed = tool.input.safeParse(call.args ?? {});
    if (!parsed.success) throw requestErrors.invalid(parsed.error.issues.slice(0, 20).map(detail));
    const args = copyDigits(call.args, parsed.data);
    return await tool.call(args, askingFor(call, over.signal, onAnswer));
  } catch (thrown) {
    if (!(thrown instanceof RouteRefused)) return thrownResult(thrown, log);
    const hasLeft = thrown.answer.status === requestErrors.clientClosed().status;
    return isLate && hasLeft
      ? thrownResult(mcpErrors.timedOut(callMs), log)
      : refusedResult(thrown.answer);
  } finally {
    clock.clearTimeout(timer);
    call.signal.removeEventListener('abort', leave);
  }
}

const askingFor =
  (
    { ask, key }: McpToolCall,
    signal: AbortSignal,
    onAnswer: (answer: RouteAnswer) => void,
  ): AskTool =>
  async (route, { body, maxBytes = MCP_LIMITS.answerBytes, query } = {}) => {
    const told = await ask({ route, body, query, idempotencyKey: key, signal });
    const answer = await readAnswer(told.answer, maxBytes, signal);
    onAnswer(answer);
    // The result is built and serialized in one turn of the event loop. A long answer gets a new turn for that.
    if (isLongJson(answer.bytes)) await turnForLongWork();
    if (answer.status >= 400 && !isRelayed(answer)) throw new RouteRefused(answer);
    return answer;
  };

const detail = (issue: {
  readonly path: readonly PropertyKey[];
  readonly message: string;
  readonly code: string;
}) => ({
  path: issue.path.map((part) => (typeof part === 'symbol' ? String(part) : part)),
  message: issue.message,
  code: issue.code,
});
