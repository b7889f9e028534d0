import { type ConversationItem, partText } from '../../voice/session/conversation.ts';

/** Words of the caller or callee, or the heard words of the agent. */
export type SpokenTurn = {
  readonly id: string;
  readonly role: 'user' | 'assistant';
  readonly content: string;
};

/** Returns the turns of a conversation, oldest first, without turns that have no words. */
export function spokenTurns(items: readonly ConversationItem[]): readonly SpokenTurn[] {
  return items.flatMap((item) => {
    if (item.type !== 'message' || item.role === 'system') return [];
    const content = item.content.map(partText).join(' ').trim();
    return content === '' ? [] : [{ id: item.id, role: item.role, content }];
  });
}
