import type { ConversationItem } from '../../src/voice/session/conversation.ts';

let count = 0;

/** A message of a conversation that was spoken. */
export const said = (
  role: 'system' | 'user' | 'assistant',
  transcript: string,
  id = `item_${++count}`,
): ConversationItem => ({
  id,
  type: 'message',
  role,
  status: 'completed',
  content: [{ type: 'speech', transcript }],
});
