import type { Json } from '../../../kernel/json.ts';
import type { InputItem } from '../responses-request.ts';
import { type Misfits, NOT_HERE } from './misfit.ts';
import { plainText, translateParts } from './translate-content.ts';
import { chatName } from './translate-tools.ts';

type Call = {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
};

export type Role = 'system' | 'user' | 'assistant' | 'tool';

/** One message of a chat. */
export type Message = {
  readonly role: Role;
  content: string | readonly Json[] | null;
  tool_calls?: Call[];
  readonly tool_call_id?: string;
};

/** Vendors of this dialect know `system`; of `developer` many do not. */
const ROLES: ReadonlyMap<unknown, Role> = new Map([
  ['user', 'user'],
  ['assistant', 'assistant'],
  ['system', 'system'],
  ['developer', 'system'],
]);

export type TranslatedItems = {
  readonly messages: Message[];
  /** Items that chat has no place for and that change nothing of what is asked: they are left out. */
  readonly leftOut: readonly InputItem[];
};

/**
 * Puts the items of a conversation into messages, in their order. What the assistant says and the calls beside it are one
 * message, as chat has them. Items that chat has no words for are noted, and stand as text.
 */
export function translateItems(items: readonly InputItem[], misfits: Misfits): TranslatedItems {
  const messages: Message[] = [];
  const leftOut: InputItem[] = [];
  const called = new Set<string>();
  for (const [index, item] of items.entries()) {
    const at = `input[${index}]`;
    switch (typeOf(item)) {
      case 'message':
        addMessage(messages, item, at, misfits);
        break;
      case 'function_call':
        addCall(messages, item, at, misfits, called);
        break;
      case 'function_call_output':
        addOutput(messages, item, at, misfits, called);
        break;
      case 'reasoning':
        leftOut.push(item);
        break;
      default:
        misfits.note(at, `is of type ${JSON.stringify(item.type)}, which ${NOT_HERE}`);
        addOpaque(messages, item, at, misfits);
    }
  }
  return { messages, leftOut };
}

/** A message may come without its type. */
export const typeOf = ({ role, type }: InputItem): string =>
  type ?? (typeof role === 'string' ? 'message' : 'item_reference');

function addMessage(messages: Message[], item: InputItem, at: string, misfits: Misfits): void {
  const role = ROLES.get(item.role);
  if (role === undefined) {
    misfits.note(`${at}.role`, 'must be user, assistant, system or developer');
    addOpaque(messages, item, at, misfits);
    return;
  }
  const parts = translateParts(item.content, `${at}.content`, misfits);
  const text = plainText(parts);
  if (role === 'assistant' && text === undefined) {
    misfits.note(`${at}.content`, 'of an assistant may have text alone');
  }
  const last = messages.at(-1);
  if (role === 'assistant' && text !== undefined && last?.tool_calls !== undefined) {
    // The results of these calls have to follow the message that they are in.
    last.content = `${last.content === null ? '' : String(last.content)}${text}`;
    return;
  }
  const isPlain = text !== undefined && (parts.length === 1 || role === 'assistant');
  messages.push({ role, content: isPlain ? text : parts });
}

function addCall(
  messages: Message[],
  item: InputItem,
  at: string,
  misfits: Misfits,
  calls: Set<string>,
): void {
  const { arguments: text, call_id: id, name } = item;
  if (typeof id !== 'string' || typeof name !== 'string' || typeof text !== 'string') {
    misfits.note(at, 'needs call_id, name and arguments, which are texts');
    addOpaque(messages, item, at, misfits);
    return;
  }
  calls.add(id);
  const { namespace } = item;
  const called = typeof namespace === 'string' ? { name, namespace } : { name };
  const call: Call = {
    ...{ id, type: 'function' },
    function: { name: chatName(called), arguments: text },
  };
  const last = messages.at(-1);
  if (last?.role !== 'assistant') {
    messages.push({ role: 'assistant', content: null, tool_calls: [call] });
  } else if (last.tool_calls === undefined) last.tool_calls = [call];
  else last.tool_calls.push(call);
}

function addOutput(
  messages: Message[],
  item: InputItem,
  at: string,
  misfits: Misfits,
  called: ReadonlySet<string>,
): void {
  const { call_id: id, output } = item;
  if (typeof id !== 'string') {
    misfits.note(`${at}.call_id`, 'must be a text');
    addOpaque(messages, item, at, misfits);
    return;
  }
  if (!called.has(id)) misfits.note(`${at}.call_id`, 'names no call that stands before it');
  const parts = translateParts(output, `${at}.output`, misfits);
  const text = plainText(parts);
  if (text === undefined) {
    misfits.note(`${at}.output`, `has more than text, which ${NOT_HERE}`);
  }
  messages.push({ role: 'tool', tool_call_id: id, content: text ?? parts });
}

/** Stands in for an item that has been noted, so that its length counts, and images and files in it as such. */
function addOpaque(messages: Message[], item: InputItem, at: string, misfits: Misfits): void {
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
