import type { ContentPart, ConversationItem } from '../../voice/session/conversation.ts';
import type { ClientItem } from './client-event.ts';

/** Returns a client's item in the form of the conversation. */
export function readItem(wanted: ClientItem, id: string): ConversationItem {
  const common = { id, status: 'completed' } as const;
  switch (wanted.type) {
    case 'message': {
      const { role, content } = wanted;
      return { ...common, type: 'message', role, content: content.map(readPart) };
    }
    case 'function_call': {
      const { call_id: callId, name, arguments: given } = wanted;
      return { ...common, type: 'function_call', callId, name, arguments: given };
    }
    case 'function_call_output': {
      const { call_id: callId, output } = wanted;
      return { ...common, type: 'function_call_output', callId, output };
    }
  }
}

function readPart(part: Extract<ClientItem, { type: 'message' }>['content'][number]): ContentPart {
  switch (part.type) {
    case 'input_audio':
    case 'output_audio':
    case 'audio':
      return { type: 'speech', transcript: part.transcript ?? '' };
    case 'input_image':
      return { type: 'image', url: part.image_url, detail: part.detail ?? 'auto' };
    default:
      return { type: 'text', text: part.text };
  }
}
