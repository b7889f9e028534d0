import { isObject } from '../../kernel/json.ts';
import type { ChatRequest } from '../../models/chat/chat-request.ts';
import { MODEL_LIMITS } from '../../models/limits.ts';
import { completeSchema, schemaRoom } from '../../models/providers/fit/object-schema.ts';
import { VOICE_LIMITS } from '../limits.ts';
import { type ConversationItem, imagesOf, partText } from '../session/conversation.ts';
import type { SessionConfig } from '../session/session-config.ts';
import { joinUtterances } from '../session/turns/turn-so-far.ts';
import type { LlmRequest } from '../session/voice-pipeline.ts';

type Message = ChatRequest['messages'][number];
type Call = Extract<ConversationItem, { type: 'function_call' }>;

/**
 * Returns the chat request for one answer: the instructions, and as many of the last items as fit
 * `VOICE_LIMITS.cascade.conversationBytes`. The last item always stays; when it is a tool output, its calls and the caller's words
 * before them stay as well. Every call directly precedes its output, and no call or output stands alone.
 */
export function chatBody(
  model: string,
  { config, isPrompt, items, outputCap }: Omit<LlmRequest, 'signal'>,
): ChatRequest {
  const { instructions } = config;
  const system: Message[] = instructions === '' ? [] : [{ role: 'system', content: instructions }];
  const messages = [
    ...system,
    ...messagesOf(newest(joinUtterances(items), VOICE_LIMITS.cascade.conversationBytes)),
  ];
  return {
    model,
    messages: betweenCallers(messages, isPrompt ?? false),
    max_tokens: outputCap,
    ...toolsOf(config),
  };
}

/** Message that stands for a silent caller in the prompt. */
const NO_WORDS: Message = { role: 'user', content: '(silence)' };

/**
 * Inserts messages of a silent caller, so that every model accepts the order: the caller speaks first, and the caller or a tool
 * last. Some models refuse any other order, or continue their own last words.
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
    bytes += inPrompt(items[from - 1] as ConversationItem).bytes;
    if (bytes > room && from <= keptFrom) break;
    from--;
  }
  return items.slice(from);
}

/**
 * Returns the index of the first item that the last item depends on: tool outputs need their calls, and the caller's words
 * before the calls.
 */
function lastAnswers(items: readonly ConversationItem[]): number {
  const unmet = new Set<string>();
  let from = items.length - 1;
  for (; from > 0; from--) {
    const item = items[from];
    if (item?.type !== 'function_call_output') break;
    unmet.add(item.callId);
  }
  if (unmet.size === 0) return items.length - 1;
  for (let at = from; at >= 0 && unmet.size > 0; at--) {
    const item = items[at];
    if (item?.type === 'function_call' && unmet.delete(item.callId)) from = at;
  }
  const asked = items.findLastIndex((item, at) => at < from && isFromCaller(item));
  return asked === -1 ? from : asked;
}

const isFromCaller = (item: ConversationItem): boolean =>
  item.type === 'message' && item.role === 'user';

/** Size and content of an item in a prompt. */
type InPrompt = {
  /** Size of the item in the prompt, in bytes. An image counts as `MODEL_LIMITS.tokens.perOpaquePart`. */
  readonly bytes: number;
  /** Content of a message; `''` for other items. All requests of the session share this array: never write to it. */
  readonly content: string | readonly object[];
};

/**
 * Cache, because every answer reads the whole conversation again. An item is never edited: its newer version is another object.
 */
const inPrompts = new WeakMap<ConversationItem, InPrompt>();

function inPrompt(item: ConversationItem): InPrompt {
  let read = inPrompts.get(item);
  if (read === undefined) {
    const words = bytesOf(JSON.stringify(wordsOf(item)));
    const images = imagesOf(item).length * MODEL_LIMITS.tokens.perOpaquePart;
    const content = item.type === 'message' ? contentOf(item) : '';
    read = { bytes: MODEL_LIMITS.tokens.perMessage + words + images, content };
    inPrompts.set(item, read);
  }
  return read;
}

function wordsOf(item: ConversationItem): string {
  if (item.type === 'message') return item.content.map(partText).join(' ');
  if (item.type === 'function_call') return item.callId + item.name + item.arguments;
  return item.callId + item.output;
}

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
    const { content } = inPrompt(item);
    if (content.length > 0) messages.push({ role: item.role, content });
  }
  flush();
  return messages;
}

/** Returns the words of a message, or its content parts when it contains images. */
function contentOf(item: ConversationItem): string | readonly object[] {
  const text = wordsOf(item).trim();
  const images = imagesOf(item);
  if (images.length === 0) return text;
  return [
    ...(text === '' ? [] : [{ type: 'text', text }]),
    ...images.map(({ detail, url }) => ({
      type: 'image_url',
      image_url: { url, detail },
    })),
  ];
}

/** Maps each call to its output. Ids may repeat: an output belongs to the last call of its id that has no output yet. */
function outputsOf(items: readonly ConversationItem[]): ReadonlyMap<Call, string> {
  const open = new Map<string, Call>();
  const outputs = new Map<Call, string>();
  for (const item of items) {
    if (item.type === 'function_call') open.set(item.callId, item);
    if (item.type !== 'function_call_output') continue;
    const call = open.get(item.callId);
    if (call !== undefined) outputs.set(call, item.output);
    open.delete(item.callId);
  }
  return outputs;
}

const callMessage = (calls: readonly Call[]): Message => ({
  role: 'assistant',
  content: null,
  tool_calls: calls.map(({ callId: id, name, arguments: given }) => ({
    id,
    type: 'function',
    function: { name, arguments: given },
  })),
});

const outputOf =
  (outputs: ReadonlyMap<Call, string>) =>
  (call: Call): Message => ({
    role: 'tool',
    tool_call_id: call.callId,
    content: outputs.get(call) ?? '',
  });

function toolsOf({ toolChoice, tools }: SessionConfig) {
  if (tools.length === 0) return {};
  const room = schemaRoom();
  return {
    tools: tools.map(({ name, description, parameters: schema }) => ({
      type: 'function',
      function: {
        name,
        description,
        parameters: isObject(schema) ? completeSchema(schema, room) : schema,
      },
    })),
    tool_choice:
      typeof toolChoice === 'string'
        ? toolChoice
        : { type: 'function', function: { name: toolChoice.name } },
  };
}
