import type { ChatMessage } from '../../engines/engine.ts';
import { LIMITS } from '../../kernel/limits.ts';

/** What a caller shows: a data: URL, or one that the model's vendor can fetch. */
export type ImagePart = {
  readonly type: 'input_image';
  readonly image_url: string;
  readonly detail: 'auto' | 'low' | 'high';
};

export type ContentPart =
  | { readonly type: 'input_text'; readonly text: string }
  | { readonly type: 'input_audio'; readonly transcript: string | null }
  | ImagePart
  | { readonly type: 'output_text'; readonly text: string }
  | { readonly type: 'output_audio'; readonly transcript: string };

type ItemStatus = 'in_progress' | 'completed' | 'incomplete';

export type ConversationItem =
  | {
      readonly id: string;
      readonly object: 'realtime.item';
      readonly type: 'message';
      readonly role: 'system' | 'user' | 'assistant';
      readonly status: ItemStatus;
      readonly content: readonly ContentPart[];
    }
  | {
      readonly id: string;
      readonly object: 'realtime.item';
      readonly type: 'function_call';
      readonly status: ItemStatus;
      readonly call_id: string;
      readonly name: string;
      readonly arguments: string;
    }
  | {
      readonly id: string;
      readonly object: 'realtime.item';
      readonly type: 'function_call_output';
      readonly status: ItemStatus;
      readonly call_id: string;
      readonly output: string;
    };

/**
 * What was said and done in a session, in order. It holds a bounded number of items, of characters and of images: when
 * one more would not fit, the oldest leave; for an image those with images.
 */
export class Conversation {
  /** In conversation order. */
  readonly #items: ConversationItem[] = [];
  #chars = 0;
  #imageChars = 0;
  /** By their call ids, latest last: the calls that had to leave, whose tools may still be at work. */
  readonly #evictedCalls = new Set<string>();

  find(id: string): ConversationItem | undefined {
    return this.#items.find((item) => item.id === id);
  }

  /** Whether a tool was called so here. That its call had to leave meanwhile is no fault of who answers it. */
  hasCall(callId: string): boolean {
    return (
      this.#evictedCalls.has(callId) ||
      this.#items.some((item) => item.type === 'function_call' && item.call_id === callId)
    );
  }

  get lastId(): string | null {
    return this.#items.at(-1)?.id ?? null;
  }

  /** The id of the item before this one; null at the front. */
  before(id: string): string | null {
    const at = this.#items.findIndex((item) => item.id === id);
    return this.#items[at - 1]?.id ?? null;
  }

  /** Puts an item at the end, or behind `afterId` (`root` is the front). Answers the ids that had to leave. */
  add(item: ConversationItem, afterId?: string): readonly string[] {
    const at =
      afterId === undefined
        ? this.#items.length
        : afterId === 'root'
          ? 0
          : this.#items.findIndex((other) => other.id === afterId) + 1;
    this.#items.splice(at, 0, item);
    this.#chars += wordChars(item);
    this.#imageChars += imageChars(item);
    return this.#evict(item.id);
  }

  /** Puts a newer version of an item in its place. */
  replace(item: ConversationItem): void {
    const at = this.#items.findIndex((other) => other.id === item.id);
    const before = this.#items[at];
    if (before === undefined) return;
    this.#chars += wordChars(item) - wordChars(before);
    this.#imageChars += imageChars(item) - imageChars(before);
    this.#items[at] = item;
  }

  remove(id: string): boolean {
    const at = this.#items.findIndex((item) => item.id === id);
    const [removed] = at === -1 ? [] : this.#items.splice(at, 1);
    if (removed === undefined) return false;
    this.#chars -= wordChars(removed);
    this.#imageChars -= imageChars(removed);
    return true;
  }

  /** In conversation order; a copy. */
  get items(): readonly ConversationItem[] {
    return [...this.#items];
  }

  #evict(keepId: string): readonly string[] {
    const gone: string[] = [];
    const tooMuch = () =>
      this.#items.length > LIMITS.realtimeItems || this.#chars > LIMITS.realtimeConversationChars;
    const tooManyImages = () => this.#imageChars > LIMITS.realtimeImagesChars;
    while (tooMuch() || tooManyImages()) {
      const mayGo = tooMuch() ? () => true : (item: ConversationItem) => imageChars(item) > 0;
      const oldest = this.#items.find((item) => item.id !== keepId && mayGo(item));
      if (oldest === undefined) break;
      this.remove(oldest.id);
      if (oldest.type === 'function_call') this.#rememberCall(oldest.call_id);
      gone.push(oldest.id);
    }
    return gone;
  }

  #rememberCall(callId: string): void {
    this.#evictedCalls.delete(callId);
    this.#evictedCalls.add(callId);
    const [first] = this.#evictedCalls;
    if (this.#evictedCalls.size > LIMITS.realtimeItems && first !== undefined) {
      this.#evictedCalls.delete(first);
    }
  }
}

/** The newest messages among items that fit into `maxChars`, oldest first; always the last one. */
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

/** The words of a message, whichever way they came. */
export const partText = ({ text, transcript }: Words): string => text ?? transcript ?? '';

type Words = {
  readonly type: string;
  readonly text?: string;
  readonly transcript?: string | null | undefined;
};

/** The images of a message. */
export const imagesOf = (item: ConversationItem | undefined): readonly ImagePart[] =>
  item?.type === 'message' ? item.content.filter((part) => part.type === 'input_image') : [];

/** Of its images, as URLs. */
export const imageChars = (item: ConversationItem): number =>
  imagesOf(item).reduce((sum, { image_url: url }) => sum + url.length, 0);

/** Of its words. */
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
