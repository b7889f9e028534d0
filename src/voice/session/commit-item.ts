import type { EventSender } from '../protocols/openai-realtime/event-sender.ts';
import type { Conversation, ConversationItem } from './conversation.ts';

/** Puts what a caller said, its words still unknown, into the conversation, and tells of it behind `lead`. */
export function commitItem(
  { sender, conversation }: { readonly sender: EventSender; readonly conversation: Conversation },
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
  sender.batch(() => {
    lead();
    sender.send('input_audio_buffer.committed', { previous_item_id: previous, item_id: itemId });
    sender.send('conversation.item.added', { previous_item_id: previous, item });
    sender.send('conversation.item.done', { previous_item_id: previous, item });
    for (const goneId of gone) sender.send('conversation.item.deleted', { item_id: goneId });
  });
}
