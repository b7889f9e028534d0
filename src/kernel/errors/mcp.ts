import { MAY_RETRY, mayRetryAfter, refusal } from './refusal.ts';

/** Of the MCP server: of its messages, and of tool calls that no route has refused. */
export const mcp = {
  /** JSON-RPC's own word for a body that is no JSON. */
  parseError: () => refusal(400, 'parse_error', 'The body is not valid JSON.'),
  invalidMessage: (message: string) => refusal(400, 'invalid_message', message),
  foreignOrigin: () =>
    refusal(
      403,
      'forbidden',
      'The Origin of this request is neither this server nor this machine; MCP clients of other pages are not served.',
    ),
  tooManyCalls: (most: number) =>
    refusal(
      429,
      'rate_limit_exceeded',
      `This agent has ${most} tool calls under way, as many as it may; try again when one has ended.`,
      { reason: 'agent_tool_limit', retry_after_seconds: 1, remaining: 0, limit: most },
      mayRetryAfter(1),
    ),
  timedOut: (ms: number) =>
    refusal(
      504,
      'tool_timed_out',
      `The call took more than ${ms / 1_000} s and was given up before anything was paid.`,
      {},
      MAY_RETRY,
    ),
};
