export type StopReason = 'end_turn' | 'max_tokens' | 'tool_use' | 'refusal';

const REASONS: ReadonlyMap<unknown, StopReason> = new Map([
  ['length', 'max_tokens'],
  ['tool_calls', 'tool_use'],
  ['function_call', 'tool_use'],
  ['content_filter', 'refusal'],
]);

/** Returns the stop reason for a finish reason of chat. Some upstreams report `stop` for an answer with tool calls. */
export function stopReasonOf(finishReason: unknown, hasCalls: boolean): StopReason {
  const reason = REASONS.get(finishReason) ?? 'end_turn';
  return reason === 'end_turn' && hasCalls ? 'tool_use' : reason;
}
