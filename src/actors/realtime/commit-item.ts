import type { Conversation, ConversationItem } from './conversation.ts';
import type { Outlet } from './outlet.ts';

/** Puts what a caller said, its words still unknown, into the conversation, and tells of it behind `lead`. */
export function commitItem(
  { outlet, conversation }: { readonly outlet: Outlet; readonly conversation: Conversation },
  itemId: string,
  lead: () => void,
): void {
  const item: ConversationItem = {
    id: itemId,
    object: 'realtime.item',
    type: 'message',
    role: 'user',
    status: 'completed',
    content: [{ type: 'input_audio', transcript: null }],
  };
  const previous = conversation.lastId;
  const gone = conversation.add(item);
  outlet.batch(() => {
    lead();
    outlet.send('input_audio_buffer.committed', { previous_item_id: previous, item_id: itemId });
    outlet.send('conversation.item.added', { previous_item_id: previous, item });
    outlet.send('conversation.item.done', { previous_item_id: previous, item });
    for (const goneId of gone) outlet.send('conversation.item.deleted', { item_id: goneId });
  });
}
