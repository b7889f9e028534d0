import type { ContentPart, ConversationItem } from '../../voice/session/conversation.ts';

type Role = Extract<ConversationItem, { type: 'message' }>['role'];

/** Returns an item of the conversation in the protocol's form. */
export function renderItem(item: ConversationItem): Readonly<Record<string, unknown>> {
  const { id, type, status } = item;
  const common = { id, object: 'realtime.item', type, status };
  switch (item.type) {
    case 'message': {
      const { content, role } = item;
      return { ...common, role, content: content.map((part) => renderPart(part, role)) };
    }
    case 'function_call':
      return { ...common, call_id: item.callId, name: item.name, arguments: item.arguments };
    case 'function_call_output':
      return { ...common, call_id: item.callId, output: item.output };
  }
}

/** Returns a content part in the protocol's form. The assistant's parts are output; all other parts are input. */
function renderPart(part: ContentPart, role: Role): object {
  const side = role === 'assistant' ? 'output' : 'input';
  switch (part.type) {
    case 'text':
      return { type: `${side}_text`, text: part.text };
    case 'speech':
      return { type: `${side}_audio`, transcript: part.transcript };
    case 'image':
      return { type: 'input_image', image_url: part.url, detail: part.detail };
  }
}

/** Returns an item in the protocol's form without image data, for the client that sent the image. */
export function renderOwnItem(item: ConversationItem): Readonly<Record<string, unknown>> {
  if (item.type !== 'message') return renderItem(item);
  const content = item.content.map((part) => {
    const { image_url, ...rest } = renderPart(part, item.role) as { image_url?: string };
    return image_url === undefined || /^data:/i.test(image_url) ? rest : { ...rest, image_url };
  });
  return { ...renderItem(item), content };
}
