import type { ChatMessage } from '../../engines/engine.ts';
import { VOICE_LIMITS } from '../limits.ts';

/** An image from the caller: a data: URL, or a URL that the model's vendor can fetch. */
export type ImagePart = {
  readonly type: 'image';
  readonly url: string;
  readonly detail: 'auto' | 'low' | 'high';
};

export type ContentPart =
  | { readonly type: 'text'; readonly text: string }
  /** The transcript is null until the speech is transcribed. */
  | { readonly type: 'speech'; readonly transcript: string | null }
  | ImagePart;

type ItemStatus = 'in_progress' | 'completed' | 'incomplete';

export type ConversationItem =
  | {
      readonly id: string;
      readonly type: 'message';
      readonly role: 'system' | 'user' | 'assistant';
      readonly status: ItemStatus;
      readonly content: readonly ContentPart[];
      /** Present when the utterance continues the turn of the utterance before it. */
      readonly continues?: true;
    }
  | {
      readonly id: string;
      readonly type: 'function_call';
      readonly status: ItemStatus;
      readonly callId: string;
      readonly name: string;
      readonly arguments: string;
    }
  | {
      readonly id: string;
      readonly type: 'function_call_output';
      readonly status: ItemStatus;
      readonly callId: string;
      readonly output: string;
    };

type Message = Extract<ConversationItem, { type: 'message' }>;

/** Returns a complete message whose content is text, not speech. */
export const writtenMessage = (id: string, role: Message['role'], text: string): Message => ({
  id,
  role,
  type: 'message',
  status: 'completed',
  content: [{ type: 'text', text }],
});

/** An item that was added to the conversation, with its position. */
export type AddedItem = {
  readonly item: ConversationItem;
  /** Id of the item before the added item; null at the front. */
  readonly previousId: string | null;
  /** Ids of the oldest items, which were evicted to make room. */
  readonly evictedIds: readonly string[];
};

/**
 * The items of a session, in order, with bounds on the items, characters and images. When a new item would exceed a bound, the
 * oldest items are evicted; over the bound on images, only items that hold images.
 */
export class Conversation {
  /** All items, in conversation order. */
  readonly #items: ConversationItem[] = [];
  #chars = 0;
  #imageChars = 0;
  /** Call ids of evicted function calls, latest last. Their tools may still be running. */
  readonly #evictedCalls = new Set<string>();

  find(id: string): ConversationItem | undefined {
    return this.#items[this.#indexOf(id)];
  }

  /** Returns true when the conversation contains this call or has evicted it. The output of such a call is accepted. */
  hasCall(callId: string): boolean {
    return (
      this.#evictedCalls.has(callId) ||
      this.#items.some((item) => item.type === 'function_call' && item.callId === callId)
    );
  }

  get lastId(): string | null {
    return this.#items.at(-1)?.id ?? null;
  }

  /** Returns the id of the item before the item `id`; null when `id` is the first item. */
  before(id: string): string | null {
    return this.#items[this.#indexOf(id) - 1]?.id ?? null;
  }

  /** Inserts an item at the end, or after the item `afterId` (`root` is the front). */
  add(item: ConversationItem, afterId?: string): AddedItem {
    const at =
      afterId === undefined
        ? this.#items.length
        : afterId === 'root'
          ? 0
          : this.#indexOf(afterId) + 1;
    this.#items.splice(at, 0, item);
    this.#chars += wordChars(item);
    this.#imageChars += imageChars(item);
    const evictedIds = this.#evict(item.id);
    return { item, previousId: this.before(item.id), evictedIds };
  }

  /** Replaces the item of the same id by a newer version. */
  replace(item: ConversationItem): void {
    const at = this.#indexOf(item.id);
    const before = this.#items[at];
    if (before === undefined) return;
    this.#chars += wordChars(item) - wordChars(before);
    this.#imageChars += imageChars(item) - imageChars(before);
    this.#items[at] = item;
  }

  remove(id: string): boolean {
    const at = this.#indexOf(id);
    const [removed] = at === -1 ? [] : this.#items.splice(at, 1);
    if (removed === undefined) return false;
    this.#chars -= wordChars(removed);
    this.#imageChars -= imageChars(removed);
    return true;
  }

  /** A copy of all items, in conversation order. */
  get items(): readonly ConversationItem[] {
    return [...this.#items];
  }

  /** Returns the index of an item, or -1. Searches from the end, because most lookups are of recent items. */
  #indexOf(id: string): number {
    return this.#items.findLastIndex((item) => item.id === id);
  }

  #evict(keepId: string): readonly string[] {
    const gone: string[] = [];
    const tooMuch = () =>
      this.#items.length > VOICE_LIMITS.realtime.items ||
      this.#chars > VOICE_LIMITS.realtime.conversationChars;
    const tooManyImages = () => this.#imageChars > VOICE_LIMITS.realtime.imagesChars;
    while (tooMuch() || tooManyImages()) {
      const mayGo = tooMuch() ? () => true : (item: ConversationItem) => imageChars(item) > 0;
      const oldest = this.#items.find((item) => item.id !== keepId && mayGo(item));
      if (oldest === undefined) break;
      this.remove(oldest.id);
      if (oldest.type === 'function_call') this.#rememberCall(oldest.callId);
      gone.push(oldest.id);
    }
    return gone;
  }

  #rememberCall(callId: string): void {
    this.#evictedCalls.delete(callId);
    this.#evictedCalls.add(callId);
    const [first] = this.#evictedCalls;
    if (this.#evictedCalls.size > VOICE_LIMITS.realtime.items && first !== undefined) {
      this.#evictedCalls.delete(first);
    }
  }
}

/**
 * Returns the newest messages that fit into `maxChars` characters, oldest first. The last message is included even when it is
 * longer.
 */
export function messagesOf(
  items: readonly ConversationItem[],
  maxChars: number,
): readonly ChatMessage[] {
  const messages: ChatMessage[] = [];
  let chars = 0;
  for (const item of items.toReversed()) {
    const message = toMessage(item);
    if (message === undefined) continue;
    chars += message.content.length;
    if (chars > maxChars && messages.length > 0) break;
    messages.push(message);
  }
  return messages.reverse();
}

/** Returns the words of a content part, written or spoken. */
export const partText = ({ text, transcript }: Words): string => text ?? transcript ?? '';

type Words = {
  readonly type: string;
  readonly text?: string;
  readonly transcript?: string | null | undefined;
};

/** Returns the images of a message; an empty list for other items. */
export const imagesOf = (item: ConversationItem | undefined): readonly ImagePart[] =>
  item?.type === 'message' ? item.content.filter((part) => part.type === 'image') : [];

/** Returns the number of characters in an item's image URLs. */
export const imageChars = (item: ConversationItem): number =>
  imagesOf(item).reduce((sum, { url }) => sum + url.length, 0);

/** Returns the number of characters in an item's words. */
export const wordChars = (item: ConversationItem): number => {
  switch (item.type) {
    case 'message':
      return item.content.reduce((sum, part) => sum + partText(part).length, 0);
    case 'function_call':
      return item.name.length + item.arguments.length;
    case 'function_call_output':
      return item.output.length;
  }
};

function toMessage(item: ConversationItem): ChatMessage | undefined {
  switch (item.type) {
    case 'message': {
      const content = item.content.map(partText).join(' ').trim();
      return content === '' ? undefined : { role: item.role, content };
    }
    case 'function_call':
      return undefined;
    case 'function_call_output':
      return { role: 'tool', content: item.output };
  }
}
