import { createHash, type Hash } from 'node:crypto';
import { isObject } from '../../kernel/json.ts';
import { MODEL_LIMITS } from '../limits.ts';
import type { ChatRequest } from './chat-request.ts';

const { leastTokens, readChars, valueChars } = MODEL_LIMITS.chat.promptCache;

/** Beginning of a prompt that other requests of the account to the model may share. */
export type Beginning = {
  readonly key: string;
  /** Tokens of the beginning. Undefined: the whole prompt is likely to be repeated. */
  readonly tokens: number | undefined;
};

type Prompt = Pick<ChatRequest, 'messages'> & {
  readonly prompt_cache_key?: unknown;
  readonly tools?: unknown;
};

const INSTRUCTIONS: ReadonlySet<unknown> = new Set(['system', 'developer']);

/** Beginnings of one request's prompt. The prompt is read at the first call of `of`, once for all models. */
export class PromptBeginnings {
  readonly #prompt: Prompt;
  #read: readonly Beginning[] | undefined;

  constructor(prompt: Prompt) {
    this.#prompt = prompt;
  }

  /** Returns the beginnings under keys of the account and the model. */
  of(accountId: string, modelId: string): readonly Beginning[] {
    this.#read ??= readBeginnings(this.#prompt);
    return this.#read.map(({ key, tokens }) => ({
      key: JSON.stringify([accountId, modelId, key]),
      tokens,
    }));
  }
}

/**
 * Reads up to two beginnings of a prompt: the conversation (up to its first message, or its `prompt_cache_key`), and tools with
 * instructions when they alone are long enough to be cached.
 */
function readBeginnings({ messages, prompt_cache_key: named, tools }: Prompt): Beginning[] {
  const first = messages.findIndex(({ role }) => !INSTRUCTIONS.has(role));
  const head = new Digest();
  head.add(tools);
  head.add(messages.slice(0, first === -1 ? undefined : first).map(({ content }) => content));
  const tokens = Math.floor(head.chars / MODEL_LIMITS.tokens.charsEach);
  const common = tokens < leastTokens ? [] : [{ key: head.key('head'), tokens }];
  if (typeof named === 'string' && named !== '') {
    const digest = new Digest();
    digest.add(named);
    return [{ key: digest.key('named'), tokens: undefined }, ...common];
  }
  head.add(messages[first]?.content);
  return [{ key: head.key('conversation'), tokens: undefined }, ...common];
}

/** Hash of the first characters of each text. Prompts that differ only after those characters get the same hash. */
class Digest {
  readonly #hash: Hash = createHash('sha256');
  #pieces: string[] = [];
  #left = 0;
  /** Number of characters read. */
  chars = 0;

  /**
   * Adds up to `readChars` characters of a value to the hash. A value counts as at least `valueChars` characters, even when it
   * is empty.
   */
  add(value: unknown): void {
    this.#left = readChars;
    this.#read(value);
    this.#hash.update(this.#pieces.join(''));
    this.#pieces = [];
  }

  #read(value: unknown): void {
    if (this.#left <= 0) return;
    if (Array.isArray(value)) {
      this.#left -= valueChars;
      for (let i = 0; i < value.length && this.#left > 0; i++) this.#read(value[i]);
    } else if (isObject(value)) {
      this.#left -= valueChars;
      for (const name of Object.keys(value)) {
        if (this.#left <= 0) return;
        // Positions of cache marks do not change the cached text.
        if (name === 'cache_control') continue;
        this.#read(name);
        this.#read(value[name]);
      }
    } else {
      const text = String(value).slice(0, this.#left);
      this.chars += text.length;
      this.#left -= Math.max(valueChars, text.length);
      this.#pieces.push(`${text.length}:${text}`);
    }
  }

  /** Returns the key of a beginning: its kind, and the hash of all texts added before. */
  key(kind: string): string {
    return `${kind}:${this.#hash.copy().digest('base64url')}`;
  }
}
