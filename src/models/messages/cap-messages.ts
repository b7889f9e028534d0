import { copyDigits } from '../../kernel/json/digits.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { MessagesRequest } from './messages-request.ts';

/** The least that the dialect takes as a budget for thoughts (https://platform.claude.com/docs/en/build-with-claude/extended-thinking). */
const LEAST_THOUGHTS = 1_024;

/** The shortest answer of use: the dialect refuses a cap that leaves no room behind the thoughts. */
export const leastAnswerOf = ({ thinking }: MessagesRequest): number =>
  thinking?.type === 'enabled'
    ? LEAST_THOUGHTS + LIMITS.leastOutputTokens
    : LIMITS.leastOutputTokens;

/**
 * The request under a cap that may be lower than the caller's. A budget for thoughts that would leave no room under it becomes
 * lower with it.
 */
export function withMessagesCap(request: MessagesRequest, outputCap: number): MessagesRequest {
  if (outputCap >= request.max_tokens) return request;
  const { thinking } = request;
  const capped = copyDigits(request, { ...request, max_tokens: outputCap });
  const budget = thinking?.budget_tokens;
  if (thinking?.type !== 'enabled' || typeof budget !== 'number') return capped;
  const room = Math.max(LEAST_THOUGHTS, outputCap - LIMITS.leastOutputTokens);
  const budgeted = { ...thinking, budget_tokens: Math.min(budget, room) };
  return copyDigits(capped, { ...capped, thinking: budgeted });
}
