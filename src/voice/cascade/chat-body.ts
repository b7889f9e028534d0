import { LIMITS } from '../../kernel/limits.ts';
import type { ChatRequest } from '../../models/chat/chat-request.ts';
import type { SessionConfig } from '../protocols/openai-realtime/session-config.ts';
import { type ConversationItem, imagesOf, partText } from '../session/conversation.ts';
import type { LlmRequest } from '../session/voice-pipeline.ts';

type Message = ChatRequest['messages'][number];
type Call = Extract<ConversationItem, { type: 'function_call' }>;

/**
 * What is asked of a chat model for one answer: the instructions and as much of the end of the conversation as fits
 * `LIMITS.cascadeConversationBytes`, the last item whatever its size, and what tools answered last with the calls for it
 * and what the caller had asked. Every call stands right before its output, as the dialect wants it, and none without
 * the other.
 */
export function chatBody(
  model: string,
  { config, isPrompt, items, outputCap }: Omit<LlmRequest, 'signal'>,
): ChatRequest {
  const { instructions } = config;
  const system: Message[] = instructions === '' ? [] : [{ role: 'system', content: instructions }];
  const messages = [...system, ...messagesOf(newest(items, LIMITS.cascadeConversationBytes))];
  return {
    model,
    messages: betweenCallers(messages, isPrompt ?? false),
    max_tokens: outputCap,
    ...toolsOf(config),
  };
}

/** A caller who says nothing, as the models are told. */
const NO_WORDS: Message = { role: 'user', content: '(silence)' };

/**
 * The same as every model takes it: what a model said first was to a caller who had said nothing, and what is asked for
 * now follows on the caller or on a tool. Some models refuse anything else, or go on with what they said last.
 */
function betweenCallers(messages: readonly Message[], isPrompt: boolean): Message[] {
  const turns = messages.filter(({ role }) => role !== 'system');
  const [first, last] = [turns[0], turns.at(-1)?.role];
  const isAsked = last === 'user' || last === 'tool' || messages.length === 0;
  const all = [...messages];
  if (first?.role === 'assistant') all.splice(messages.indexOf(first), 0, NO_WORDS);
  if (isPrompt || !isAsked) all.push(NO_WORDS);
  return all;
}

const bytesOf = (text: string): number => Buffer.byteLength(text);

function newest(items: readonly ConversationItem[], room: number): readonly ConversationItem[] {
  const keptFrom = lastAnswers(items);
  let bytes = 0;
  let from = items.length;
  while (from > 0) {
    bytes += sizeOf(items[from - 1]);
    if (bytes > room && from <= keptFrom) break;
    from--;
  }
  return items.slice(from);
}

/** Where the last item begins to make sense: of outputs of tools, at what the caller said before the calls that they answer. */
function lastAnswers(items: readonly ConversationItem[]): number {
  const unmet = new Set<string>();
  let from = items.length - 1;
  for (; from > 0; from--) {
    const item = items[from];
    if (item?.type !== 'function_call_output') break;
    unmet.add(item.call_id);
  }
  if (unmet.size === 0) return items.length - 1;
  for (let at = from; at >= 0 && unmet.size > 0; at--) {
    const item = items[at];
    if (item?.type === 'function_call' && unmet.delete(item.call_id)) from = at;
  }
  const asked = items.findLastIndex((item, at) => at < from && isFromCaller(item));
  return asked === -1 ? from : asked;
}

const isFromCaller = (item: ConversationItem): boolean =>
  item.type === 'message' && item.role === 'user';

/** Of an item in the prompt; an image is as large as its tokens usually are. */
const sizeOf = (item: ConversationItem | undefined): number =>
  LIMITS.tokensPerMessage +
  bytesOf(JSON.stringify(wordsOf(item))) +
  imagesOf(item).length * LIMITS.tokensPerOpaquePart;

const wordsOf = (item: ConversationItem | undefined): string => {
  if (item?.type === 'message') return item.content.map(partText).join(' ');
  if (item?.type === 'function_call') return item.call_id + item.name + item.arguments;
  return item === undefined ? '' : item.call_id + item.output;
};

function messagesOf(items: readonly ConversationItem[]): Message[] {
  const outputs = outputsOf(items);
  const messages: Message[] = [];
  let calls: Call[] = [];
  const flush = () => {
    if (calls.length > 0) messages.push(callMessage(calls), ...calls.map(outputOf(outputs)));
    calls = [];
  };
  for (const item of items) {
    if (item.type === 'function_call') {
      if (outputs.has(item)) calls.push(item);
      continue;
    }
    flush();
    if (item.type !== 'message') continue;
    const content = contentOf(item);
    if (content.length > 0) messages.push({ role: item.role, content });
  }
  flush();
  return messages;
}

/** The words of a message; where it shows images, too, all of it in parts. */
function contentOf(item: ConversationItem): string | readonly object[] {
  const text = wordsOf(item).trim();
  const images = imagesOf(item);
  if (images.length === 0) return text;
  return [
    ...(text === '' ? [] : [{ type: 'text', text }]),
    ...images.map(({ detail, image_url: url }) => ({
      type: 'image_url',
      image_url: { url, detail },
    })),
  ];
}

/** Each call with its output. An id may come again: an output is for the last call by it that has none. */
function outputsOf(items: readonly ConversationItem[]): ReadonlyMap<Call, string> {
  const open = new Map<string, Call>();
  const outputs = new Map<Call, string>();
  for (const item of items) {
    if (item.type === 'function_call') open.set(item.call_id, item);
    if (item.type !== 'function_call_output') continue;
    const call = open.get(item.call_id);
    if (call !== undefined) outputs.set(call, item.output);
    open.delete(item.call_id);
  }
  return outputs;
}

const callMessage = (calls: readonly Call[]): Message => ({
  role: 'assistant',
  content: null,
  tool_calls: calls.map(({ call_id: id, name, arguments: given }) => ({
    id,
    type: 'function',
    function: { name, arguments: given },
  })),
});

const outputOf =
  (outputs: ReadonlyMap<Call, string>) =>
  (call: Call): Message => ({
    role: 'tool',
    tool_call_id: call.call_id,
    content: outputs.get(call) ?? '',
  });

function toolsOf({ toolChoice, tools }: SessionConfig) {
  if (tools.length === 0) return {};
  return {
    tools: tools.map(({ name, description, parameters }) => ({
      type: 'function',
      function: { name, description, parameters },
    })),
    tool_choice:
      typeof toolChoice === 'string'
        ? toolChoice
        : { type: 'function', function: { name: toolChoice.name } },
  };
}
