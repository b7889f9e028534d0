import { isObject, type Json } from '../../../kernel/json.ts';
import type { ChatRequest } from '../../chat/chat-request.ts';
import type { MessagesRequest } from '../messages-request.ts';

/** Lowest token cap of a response that the vendor accepts. */
const LEAST_CAP = 16;

/** Returns true when a request can be sent as a response: it has no stop sequences, and its cap is high enough. */
export const fitsResponses = ({
  max_tokens: cap,
  stop_sequences: stop,
}: MessagesRequest): boolean =>
  cap >= LEAST_CAP && (stop === undefined || stop === null || stop.length === 0);

/**
 * Translates a chat, itself translated from a Messages request, to the Responses dialect. The upstream stores nothing. Thoughts
 * are left out, because the dialect takes them only sealed.
 */
export function translateToResponses(chat: ChatRequest, model: string): Json {
  const { max_tokens, messages, reasoning_effort: effort, stream, temperature, top_p } = chat;
  const { parallel_tool_calls: parallel, response_format: format, tool_choice, tools } = chat;
  return {
    model,
    input: messages.flatMap(itemsOf),
    max_output_tokens: max_tokens,
    store: false,
    stream: stream === true,
    ...(Array.isArray(tools) && { tools: tools.map(toolOf) }),
    ...(tool_choice !== undefined && { tool_choice: choiceOf(tool_choice) }),
    ...(parallel !== undefined && { parallel_tool_calls: parallel }),
    ...(isObject(format) && { text: { format: formatOf(format) } }),
    ...(effort !== undefined && { reasoning: { effort } }),
    ...(temperature !== undefined && { temperature }),
    ...(top_p !== undefined && { top_p }),
  };
}

type Message = ChatRequest['messages'][number];

function itemsOf(message: Message): Json[] {
  const { content, role, tool_call_id: id, tool_calls: calls } = message;
  if (role === 'tool') return [{ type: 'function_call_output', call_id: id, output: content }];
  const items: Json[] = [];
  if (typeof content === 'string') items.push({ type: 'message', role, content });
  if (Array.isArray(content)) {
    items.push({ type: 'message', role, content: (content as Json[]).map(partOf) });
  }
  if (Array.isArray(calls)) items.push(...(calls as Json[]).map(callOf));
  return items;
}

function partOf({ file, image_url: image, text, type }: Json): Json {
  if (type === 'image_url' && isObject(image)) {
    return { type: 'input_image', image_url: image.url, detail: 'auto' };
  }
  if (type === 'file' && isObject(file)) {
    return { type: 'input_file', filename: file.filename, file_data: file.file_data };
  }
  return { type: 'input_text', text };
}

function callOf({ function: called, id }: Json): Json {
  const { arguments: text, name } = isObject(called) ? called : ({} as Json);
  return { type: 'function_call', call_id: id, name, arguments: text };
}

/** Translates a tool. Sends `strict` with every function, because OpenAI treats a schema without it as strict. */
function toolOf(tool: Json): Json {
  const called = isObject(tool.function) ? tool.function : {};
  return { type: 'function', ...called, strict: called.strict === true };
}

const choiceOf = (choice: unknown): unknown =>
  isObject(choice) && isObject(choice.function)
    ? { type: 'function', name: choice.function.name }
    : choice;

const formatOf = ({ json_schema: named, type }: Json): Json => ({
  type,
  ...(isObject(named) ? named : {}),
});
