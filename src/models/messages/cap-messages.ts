import { copyDigits } from '../../kernel/json/digits.ts';
import { MODEL_LIMITS } from '../limits.ts';
import type { MessagesRequest } from './messages-request.ts';

/** Lower bound of `budget_tokens` for reasoning (https://platform.claude.com/docs/en/build-with-claude/extended-thinking). */
const LEAST_THOUGHTS = 1_024;

/**
 * Returns the least useful cap of an answer. With enabled thinking the dialect refuses a cap that leaves no tokens after the
 * thoughts.
 */
export const leastAnswerOf = ({ thinking }: MessagesRequest): number =>
  thinking?.type === 'enabled'
    ? LEAST_THOUGHTS + MODEL_LIMITS.tokens.leastOutput
    : MODEL_LIMITS.tokens.leastOutput;

/**
 * Returns the request with the cap `outputCap` if that is lower than its own. A budget for thoughts that would leave no room
 * under the cap is lowered too.
 */
export function withMessagesCap(request: MessagesRequest, outputCap: number): MessagesRequest {
  if (outputCap >= request.max_tokens) return request;
  const { thinking } = request;
  const capped = copyDigits(request, { ...request, max_tokens: outputCap });
  const budget = thinking?.budget_tokens;
  if (thinking?.type !== 'enabled' || typeof budget !== 'number') return capped;
  const room = Math.max(LEAST_THOUGHTS, outputCap - MODEL_LIMITS.tokens.leastOutput);
  const budgeted = { ...thinking, budget_tokens: Math.min(budget, room) };
  return copyDigits(capped, { ...capped, thinking: budgeted });
}
