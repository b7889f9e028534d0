import { type ContentPart, type ConversationItem, imagesOf } from '../../session/conversation.ts';
import type { ClientItem } from './client-event.ts';

/** A client's item as the conversation keeps it. */
export function readItem(wanted: ClientItem, id: string): ConversationItem {
  const common = { id, object: 'realtime.item', status: 'completed' } as const;
  switch (wanted.type) {
    case 'message': {
      const { role, content } = wanted;
      return {
        ...common,
        type: 'message',
        role,
        content: content.map((part) => readPart(part, role)),
      };
    }
    case 'function_call':
      return {
        ...common,
        type: 'function_call',
        call_id: wanted.call_id,
        name: wanted.name,
        arguments: wanted.arguments,
      };
    case 'function_call_output':
      return {
        ...common,
        type: 'function_call_output',
        call_id: wanted.call_id,
        output: wanted.output,
      };
  }
}

type WantedPart = Extract<ClientItem, { type: 'message' }>['content'][number];

function readPart(part: WantedPart, role: string): ContentPart {
  switch (part.type) {
    case 'input_audio':
      return { type: 'input_audio', transcript: part.transcript };
    case 'input_image':
      return { type: 'input_image', image_url: part.image_url, detail: part.detail ?? 'auto' };
    case 'output_audio':
    case 'audio':
      return { type: 'output_audio', transcript: part.transcript ?? '' };
    default:
      return { type: role === 'assistant' ? 'output_text' : 'input_text', text: part.text };
  }
}

/** An item as its client, who has its images, is told of it: without those that came as data. */
export function withoutImageData(item: ConversationItem): object {
  if (imagesOf(item).length === 0 || item.type !== 'message') return item;
  return {
    ...item,
    content: item.content.map((part) => {
      if (part.type !== 'input_image' || !/^data:/i.test(part.image_url)) return part;
      const { image_url: _data, ...rest } = part;
      return rest;
    }),
  };
}
