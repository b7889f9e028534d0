import { LIMITS } from '../../../kernel/limits.ts';
import type { ConversationItem } from '../../../voice/session/conversation.ts';
import type { CallParties } from '../call-parties.ts';
import { turnsOf } from '../turns-of.ts';

/**
 * What a voice webhook is asked: the last finished utterance, and the turns before it; `digits` are those that it has
 * asked for, and are in this request alone. Undefined where the caller has
 * not said anything since the last answer.
 */
export function webhookRequest(
  { callId, direction, from, to }: CallParties,
  items: readonly ConversationItem[],
  digits?: string,
): string | undefined {
  const turns = turnsOf(items);
  const last = turns.at(-1);
  if (last?.role !== 'user') return undefined;
  const history = turns.slice(0, -1).slice(-LIMITS.phone.webhookHistoryTurns);
  return JSON.stringify({
    type: 'agent.message',
    channel: 'voice',
    callId,
    from,
    to,
    direction,
    text: last.content,
    ...(digits !== undefined && { digits }),
    recentHistory: history.map(({ content, role }) => ({ role, content })),
  });
}
