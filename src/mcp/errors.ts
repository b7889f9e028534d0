import { MAY_RETRY, mayRetryAfter, NO_RETRY, refusal } from '../kernel/refusal.ts';

/** Refusals of the MCP server: of messages, and of tool calls that no route has refused. */
export const mcpErrors = {
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
  /**
   * Refusal of results that are too long. The work is done and may be paid for. With `mayRepeat` the message has a key, and a
   * repetition under this key gets the answer without new work.
   */
  resultsTooLarge: (limitBytes: number, mayRepeat: boolean) =>
    refusal(
      502,
      'tool_results_too_large',
      `The results of one request may have ${limitBytes} bytes together, and this one is more than is left. What the call did is done, at the cost told here. ${
        mayRepeat
          ? 'Send the same message again, under the same key and in a request of its own: it is answered and not paid again.'
          : 'A repeated call is a new one, and is paid again. Send calls with long results one by one, or under keys.'
      }`,
      { limit_bytes: limitBytes },
      mayRepeat ? MAY_RETRY : NO_RETRY,
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
