import type { ConversationItem } from '../../../voice/session/conversation.ts';
import { joinUtterances } from '../../../voice/session/turns/turn-so-far.ts';
import { PHONE_LIMITS } from '../../limits.ts';
import type { CallParties } from '../call-parties.ts';
import { spokenTurns } from '../spoken-turns.ts';

/**
 * Returns the body of a request to a voice webhook: the caller's words since the last answer, the turns before them, and the
 * `digits` that the webhook requested. Undefined when the caller has said nothing since the last answer.
 */
export function webhookRequest(
  { callId, direction, from, metadata, to, variables }: CallParties,
  items: readonly ConversationItem[],
  digits?: string,
): string | undefined {
  const turns = spokenTurns(joinUtterances(items));
  const last = turns.at(-1);
  if (last?.role !== 'user') return undefined;
  const history = turns.slice(0, -1).slice(-PHONE_LIMITS.webhook.historyTurns);
  return JSON.stringify({
    type: 'agent.message',
    channel: 'voice',
    callId,
    from,
    to,
    direction,
    ...(variables !== undefined && { variables }),
    ...(metadata !== undefined && { metadata }),
    text: last.content,
    ...(digits !== undefined && { digits }),
    recentHistory: history.map(({ content, role }) => ({ role, content })),
  });
}
