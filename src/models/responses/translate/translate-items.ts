import { isObject, type Json } from '../../../kernel/json.ts';
import type { InputItem } from '../responses-request.ts';
import { customArguments } from './custom-tool.ts';
import { type Misfits, NOT_HERE } from './misfit.ts';
import { chatName, SEARCH_TOOL } from './tool-names.ts';
import { bringsTools } from './tools-of-items.ts';
import { plainText, translateParts } from './translate-content.ts';

type Call = {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
};

export type Role = 'system' | 'user' | 'assistant' | 'tool';

/** Message of a chat. */
export type Message = {
  readonly role: Role;
  content: string | readonly Json[] | null;
  tool_calls?: Call[];
  /** Thoughts before the message, for upstreams that take them back. */
  reasoning_content?: string;
  readonly tool_call_id?: string;
};

/**
 * Roles of chat, by role of the Responses dialect. `developer` becomes `system`, because many vendors do not know `developer`.
 */
const ROLES: ReadonlyMap<unknown, Role> = new Map([
  ['user', 'user'],
  ['assistant', 'assistant'],
  ['system', 'system'],
  ['developer', 'system'],
]);

export type TranslatedItems = {
  readonly messages: Message[];
  /** Items of thoughts. Chat takes their text alone. */
  readonly thoughts: readonly InputItem[];
};

/**
 * Translates the items of a conversation into messages, in their order. The assistant's text, the calls beside it and the
 * plain-text reasoning before it become one message, as in chat. Items without a counterpart in chat are noted as misfits and
 * become text.
 */
export function translateItems(items: readonly InputItem[], misfits: Misfits): TranslatedItems {
  const talk: Talk = { messages: [], called: new Set(), shown: [], thought: '', misfits };
  const thoughts: InputItem[] = [];
  for (const [index, item] of items.entries()) {
    const at = `input[${index}]`;
    const type = typeOf(item);
    if (SPEAKS.has(type)) showParts(talk);
    switch (type) {
      case 'message':
        addMessage(talk, item, at);
        break;
      case 'function_call':
      case 'custom_tool_call':
      case 'tool_search_call':
        addCall(talk, item, at);
        break;
      case 'function_call_output':
      case 'custom_tool_call_output':
        addOutput(talk, item, at);
        break;
      case 'tool_search_output':
        addFound(talk, item, at);
        break;
      case 'reasoning':
        thoughts.push(item);
        talk.thought += thoughtIn(item);
        break;
      default:
        // The tools of such an item are listed with the request's tools.
        if (!bringsTools(item)) addUnknown(talk, item, at);
    }
  }
  showParts(talk);
  return { messages: talk.messages, thoughts };
}

type Talk = {
  readonly messages: Message[];
  /** Ids of all calls so far. */
  readonly called: Set<string>;
  /** Images and files of the latest tool outputs, which follow in a message of the user. */
  shown: Json[];
  /** Text of the thoughts since the assistant's last message. */
  thought: string;
  readonly misfits: Misfits;
};

/** Types of items that begin a new message after tool outputs. */
const SPEAKS: ReadonlySet<string> = new Set([
  'message',
  'function_call',
  'custom_tool_call',
  'tool_search_call',
]);

/**
 * Adds the images and files of tool outputs as a message of the user, behind all outputs of the turn: in chat, the output of a
 * tool is only text.
 */
function showParts(talk: Talk): void {
  if (talk.shown.length === 0) return;
  talk.messages.push({ role: 'user', content: talk.shown });
  talk.shown = [];
}

/** Returns the type of an item. A message may lack its type; any other item without a type is a reference. */
export const typeOf = ({ role, type }: InputItem): string =>
  type ?? (typeof role === 'string' ? 'message' : 'item_reference');

function addMessage(talk: Talk, item: InputItem, at: string): void {
  const { messages, misfits } = talk;
  const role = ROLES.get(item.role);
  if (role === undefined) {
    misfits.note(`${at}.role`, 'must be user, assistant, system or developer');
    addOpaque(talk, item, at);
    return;
  }
  const parts = translateParts(item.content, `${at}.content`, misfits);
  const text = plainText(parts);
  if (role === 'assistant' && text === undefined) {
    misfits.note(`${at}.content`, 'of an assistant may have text alone');
  }
  const last = messages.at(-1);
  if (role === 'assistant' && text !== undefined && last?.tool_calls !== undefined) {
    // The results of the message's calls must follow the message directly.
    last.content = `${last.content === null ? '' : String(last.content)}${text}`;
    addThought(talk, last);
    return;
  }
  // Vendors refuse a message without content.
  if (parts.length === 0 || (role === 'assistant' && text === '')) return;
  const isPlain = text !== undefined && (parts.length === 1 || role === 'assistant');
  const message: Message = { role, content: isPlain ? text : parts };
  if (role === 'assistant') addThought(talk, message);
  // Thoughts that led to no message belong to a turn that was given up.
  if (role === 'user') talk.thought = '';
  messages.push(message);
}

/** Adds the collected thoughts to the message that they led to. */
function addThought(talk: Talk, message: Message): void {
  if (talk.thought === '') return;
  message.reasoning_content = (message.reasoning_content ?? '') + talk.thought;
  talk.thought = '';
}

/** Returns the text of a thought, or of its summary. Sealed thoughts mean nothing to a model of another vendor. */
const thoughtIn = ({ content, summary }: InputItem): string =>
  textsIn(content, 'reasoning_text').join('') || textsIn(summary, 'summary_text').join('\n\n');

const textsIn = (parts: unknown, type: string): string[] =>
  (Array.isArray(parts) ? (parts as unknown[]) : []).flatMap((part) =>
    isObject(part) && part.type === type && typeof part.text === 'string' ? [part.text] : [],
  );

function addCall(talk: Talk, item: InputItem, at: string): void {
  const { called, messages, misfits } = talk;
  const { call_id: id } = item;
  const asked = callOf(item);
  if (typeof id !== 'string' || asked === undefined) {
    misfits.note(at, NEEDS.get(typeOf(item)) ?? '');
    addOpaque(talk, item, at);
    return;
  }
  called.add(id);
  const call: Call = { id, type: 'function', function: asked };
  let last = messages.at(-1);
  if (last?.role !== 'assistant') {
    last = { role: 'assistant', content: null, tool_calls: [call] };
    messages.push(last);
  } else if (last.tool_calls === undefined) last.tool_calls = [call];
  else last.tool_calls.push(call);
  addThought(talk, last);
}

const NEEDS: ReadonlyMap<string, string> = new Map([
  ['function_call', 'needs call_id, name and arguments, which are texts'],
  ['custom_tool_call', 'needs call_id, name and input, which are texts'],
  ['tool_search_call', `needs call_id, and to be of the caller’s own: another one ${NOT_HERE}`],
]);

/** Returns the call of the function that replaces the item's tool. Undefined when the item lacks a required member. */
function callOf(item: InputItem): Call['function'] | undefined {
  const { arguments: given, execution, input, name, namespace } = item;
  const type = typeOf(item);
  if (type === 'tool_search_call') {
    if (execution !== 'client') return undefined;
    const text = typeof given === 'string' ? given : JSON.stringify(given ?? {});
    return { name: SEARCH_TOOL.name, arguments: text };
  }
  const text = type === 'custom_tool_call' ? input : given;
  if (typeof name !== 'string' || typeof text !== 'string') return undefined;
  const called = typeof namespace === 'string' ? { name, namespace } : { name };
  return {
    name: chatName(called),
    arguments: type === 'custom_tool_call' ? customArguments(text) : text,
  };
}

function addOutput(talk: Talk, item: InputItem, at: string): void {
  const { messages, misfits, shown } = talk;
  const id = requireCalled(talk, item, at);
  if (id === undefined) return;
  const parts = translateParts(item.output, `${at}.output`, misfits);
  const text = plainText(parts.filter((part) => part.type === 'text')) ?? '';
  for (const part of parts) if (part.type !== 'text') shown.push(part);
  messages.push({ role: 'tool', tool_call_id: id, content: text });
}

/**
 * Adds the result of a tool search by the caller: the chat names of the found tools. Their definitions are listed with the
 * request's tools.
 */
function addFound(talk: Talk, item: InputItem, at: string): void {
  if (!bringsTools(item)) {
    addUnknown(talk, item, at);
    return;
  }
  const id = requireCalled(talk, item, at);
  if (id === undefined) return;
  const found = item.tools.flatMap(({ name, tools, type }) => {
    if (type !== 'namespace') return [String(name)];
    const inner = Array.isArray(tools) ? (tools as unknown[]).filter(isObject) : [];
    return inner.map((tool) => chatName({ name: String(tool.name), namespace: String(name) }));
  });
  talk.messages.push({ role: 'tool', tool_call_id: id, content: JSON.stringify({ found }) });
}

/** Returns the id of the call that an output answers. Undefined when the output has no id, which is noted. */
function requireCalled(talk: Talk, item: InputItem, at: string): string | undefined {
  const { call_id: id } = item;
  if (typeof id !== 'string') {
    talk.misfits.note(`${at}.call_id`, 'must be a text');
    addOpaque(talk, item, at);
    return undefined;
  }
  if (!talk.called.has(id))
    talk.misfits.note(`${at}.call_id`, 'names no call that stands before it');
  return id;
}

function addUnknown(talk: Talk, item: InputItem, at: string): void {
  talk.misfits.note(at, `is of type ${JSON.stringify(item.type)}, which ${NOT_HERE}`);
  addOpaque(talk, item, at);
}

/** Adds a message in place of an item that has no translation, so that its text, images and files count as prompt. */
function addOpaque({ messages, misfits }: Talk, item: InputItem, at: string): void {
  const { content, output, ...rest } = item;
  const parts = [
    ...translateParts(content, `${at}.content`, misfits),
    ...translateParts(output, `${at}.output`, misfits),
  ];
  messages.push({
    role: 'user',
    content: [{ type: 'text', text: JSON.stringify(rest) }, ...parts],
  });
}
