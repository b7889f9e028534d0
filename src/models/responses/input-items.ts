import type { Json } from '../../kernel/json.ts';
import { gatewayErrors } from '../errors.ts';
import { MODEL_LIMITS } from '../limits.ts';
import type { ConnectionMemory } from './connection/connection-memory.ts';
import { responseErrors } from './errors.ts';
import { hasMoreParts } from './has-more-parts.ts';
import type { KeptResponses } from './kept/kept-responses.ts';
import type { InputItem, ResponsesRequest } from './responses-request.ts';
import { typeOf } from './translate/translate-items.ts';

/** Items of a conversation: those before the request, and the request's own. */
export type ResponseConversation = {
  /** Items of the responses that the request continues. */
  readonly before: readonly InputItem[];
  /** Items of the request itself. References are replaced by the items that they name. */
  readonly own: readonly InputItem[];
  /** Bytes of `before` in their stored or remembered form. */
  readonly beforeBytes: number;
  /** True when only the connection remembers the items before, so that no kept response holds them. */
  readonly isUnkept: boolean;
};

const NOTHING_BEFORE = { bytes: 0, items: [] };

/** Returns the input of a request as items. A text becomes a message of the user. */
function inputItems(input: ResponsesRequest['input']): readonly InputItem[] {
  if (typeof input !== 'string') return input ?? [];
  const content = [{ type: 'input_text', text: input }];
  return [{ type: 'message', role: 'user', content }];
}

/**
 * Reads the conversation that a request continues, from its connection's memory or the store, and the items that it refers to.
 * Throws the refusal when they are gone, or when the conversation is too long.
 */
export async function readConversation(
  kept: Pick<KeptResponses, 'conversation' | 'items'>,
  agentId: number,
  request: ResponsesRequest,
  memory?: Pick<ConnectionMemory, 'find'>,
): Promise<ResponseConversation> {
  const { previous_response_id: previous } = request;
  const items = inputItems(request.input);
  const references = referencesIn(items);
  const remembered = previous ? memory?.find(previous) : undefined;
  const { bytes, items: before } =
    remembered ?? (previous ? await kept.conversation(agentId, previous) : NOTHING_BEFORE);
  const found = references.length === 0 ? new Map() : await kept.items(agentId, references, bytes);
  const own =
    references.length === 0
      ? items
      : items.map((item) =>
          typeOf(item) === 'item_reference' ? (found.get(requireId(item)) as InputItem) : item,
        );
  if (before.length + own.length > MODEL_LIMITS.chat.messages) {
    throw gatewayErrors.invalidRequest(
      `A conversation may have ${MODEL_LIMITS.chat.messages} items.`,
      previous ? 'previous_response_id' : 'input',
    );
  }
  // The limits on the request's JSON do not cover continued and referenced items.
  if ((before.length > 0 || own !== items) && hasMoreParts([before, own], MODEL_LIMITS.chat.json)) {
    throw responseErrors.conversationTooComplex(MODEL_LIMITS.chat.json);
  }
  return { before, own, beforeBytes: bytes, isUnkept: remembered !== undefined };
}

/**
 * Returns the ids of referenced items. Throws the refusal of a second reference to one item: many short references would become
 * as many whole items.
 */
function referencesIn(items: readonly InputItem[]): string[] {
  const ids = new Set<string>();
  for (const item of items) {
    if (typeOf(item) !== 'item_reference') continue;
    const id = requireId(item);
    if (ids.has(id)) {
      throw gatewayErrors.invalidRequest(
        `The input refers to the item ${JSON.stringify(id)} twice.`,
        'input',
      );
    }
    ids.add(id);
  }
  return [...ids];
}

function requireId({ id }: InputItem): string {
  if (typeof id === 'string') return id;
  throw gatewayErrors.invalidRequest('An item without a type or a role must have an id.', 'input');
}

const PREFIXES: Readonly<Record<string, string>> = {
  message: 'msg_',
  function_call: 'fc_',
  function_call_output: 'fco_',
  reasoning: 'rs_',
  custom_tool_call: 'ctc_',
  custom_tool_call_output: 'ctco_',
  tool_search_call: 'tsc_',
  tool_search_output: 'tso_',
  additional_tools: 'at_',
};

/** Returns an item in the form that is kept and shown: with an id, a type, and its content as parts. */
export function keptItem(item: InputItem, newItemId: (prefix: string) => string): InputItem {
  const type = typeOf(item);
  const id = item.id ?? newItemId(PREFIXES[type] ?? 'item_');
  if (type !== 'message') return { ...item, id };
  const { content, role } = item;
  const part = role === 'assistant' ? 'output_text' : 'input_text';
  const extra = role === 'assistant' ? { annotations: [] } : {};
  const parts =
    typeof content === 'string' ? [{ type: part, text: content, ...extra }] : (content ?? []);
  return { status: 'completed', ...item, id, type, content: parts };
}

/** Returns true for reasoning without its encrypted form, which cannot be sent back to an upstream. */
export const isUnsealed = ({ encrypted_content: sealed, type }: InputItem): boolean =>
  type === 'reasoning' && typeof sealed !== 'string';

/**
 * Returns a kept item in the form for an upstream that stores nothing. Its id is left out, which names nothing there; sealed
 * thoughts keep theirs. Undefined for thoughts that are not sealed.
 */
export function sentItem(item: InputItem): InputItem | undefined {
  if (item.type === 'reasoning') return isUnsealed(item) ? undefined : item;
  const { id: _, status: __, ...rest } = item as Json;
  return rest as InputItem;
}
