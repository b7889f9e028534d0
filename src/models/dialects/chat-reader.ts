import { isLongJson } from '../../kernel/json/parse-json.ts';
import { isObject, type Json } from '../../kernel/json.ts';
import { turnForLongWork } from '../../kernel/long-work.ts';
import { contentText } from '../chat/read-answer.ts';
import { textMember } from '../providers/anthropic/read-json.ts';
import type { ChatRail, ChatStream } from '../providers/chat-rail.ts';
import { readData } from '../providers/openai/chat-tap.ts';
import { ChunkTemplate } from '../providers/openai/chunk-template.ts';
import { readUsage } from '../providers/openai/read-completion.ts';
import { SseEvents } from '../providers/openai/sse-events.ts';
import { tokenCount } from '../providers/token-count.ts';
import type { AnswerSource, Tell } from './answer-event.ts';
import { AnsweredCalls } from './answered-calls.ts';
import { WrittenStream } from './written-stream.ts';

/** The trait of a rail that says if its upstream signs tool calls. */
type Signs = Pick<ChatRail, 'signsCalls'>;

/** Returns the events of a chat stream. A stream that was written here for an upstream of another dialect is not parsed. */
export const readChat = (stream: ChatStream, signs: Signs = {}): AnswerSource =>
  stream instanceof WrittenStream ? stream.source : new ChatReader(stream, signs);

/** Reads the chunks of a chat stream. */
class ChatReader implements AnswerSource {
  readonly #chat: ChatStream;
  readonly #events = new SseEvents();
  readonly #alike = new ChunkTemplate();
  readonly #content: ChatContent;
  #hasBegun = false;

  constructor(chat: ChatStream, signs: Signs) {
    this.#chat = chat;
    this.#content = new ChatContent(signs);
  }

  async read(tell: Tell): Promise<boolean> {
    const piece = await this.#chat.next();
    if (piece === undefined) {
      this.#content.end(tell);
      return false;
    }
    const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    // Most pieces are one event that has nothing but text.
    if (this.#tellText(bytes, tell)) return true;
    for (const event of this.#events.push(bytes)) {
      if (!this.#tellText(event, tell)) this.#look(event, await readData(event), tell);
    }
    if (isLongJson(piece)) await turnForLongWork();
    return true;
  }

  metered() {
    return this.#chat.metered();
  }

  stop(): void {
    this.#chat.stop();
  }

  /** Tells the text of an event without parsing it. Returns false when the event must be parsed. */
  #tellText(event: Buffer, tell: Tell): boolean {
    const text = this.#alike.textOf(event);
    if (text !== undefined) this.#content.say('text', text, tell);
    return text !== undefined;
  }

  #look(event: Buffer, chunk: unknown, tell: Tell): void {
    if (!isObject(chunk)) {
      if (event[0] === COMMENT) tell({ kind: 'alive' });
      return;
    }
    if (isObject(chunk.error)) {
      tell({ kind: 'error', error: chunk.error });
      return;
    }
    this.#alike.remember(event, chunk);
    if (!this.#hasBegun) {
      this.#hasBegun = true;
      tell({ kind: 'begin', id: textMember(chunk, 'id'), model: textMember(chunk, 'model') });
    }
    tellUsage(chunk, tell);
    const choice = firstChoice(chunk);
    if (choice === undefined) return;
    if (isObject(choice.delta)) this.#content.tell(choice.delta, choice.logprobs, tell);
    tellEnd(choice, tell);
  }
}

const COMMENT = 0x3a;

/** Tells the events of a whole completion. Returns false when the value is no completion. */
export function tellCompletion(completion: unknown, signs: Signs, tell: Tell): boolean {
  const choice = isObject(completion) ? firstChoice(completion) : undefined;
  if (!isObject(completion) || !isObject(choice?.message)) return false;
  const content = new ChatContent(signs);
  content.tell(choice.message, choice.logprobs, tell);
  content.end(tell);
  tellEnd(choice, tell);
  tellUsage(completion, tell);
  return true;
}

/** Tells the content of messages and deltas: first thoughts, then text, then a refusal, then calls, as chat models answer. */
class ChatContent {
  readonly #signsCalls: boolean;
  /** Undefined before the first call, because most answers have none. */
  #calls: AnsweredCalls | undefined;

  constructor({ signsCalls = false }: Signs) {
    this.#signsCalls = signsCalls;
  }

  tell(said: Json, logprobs: unknown, tell: Tell): void {
    // Vendors have two names for thoughts, and some send both at once.
    const thought = textMember(said, 'reasoning_content') || textMember(said, 'reasoning');
    this.say('thought', thought, tell);
    const odds = isObject(logprobs) ? listOf(logprobs.content) : undefined;
    this.say('text', contentText(said.content), tell, odds);
    this.say('refusal', textMember(said, 'refusal'), tell);
    if (!Array.isArray(said.tool_calls)) return;
    this.#calls ??= new AnsweredCalls({ waitsForSignature: this.#signsCalls });
    for (const { call, text } of this.#calls.hear(said.tool_calls)) {
      tell({ kind: 'call', call, text });
    }
  }

  say(
    kind: 'text' | 'thought' | 'refusal',
    text: string,
    tell: Tell,
    logprobs?: readonly unknown[],
  ): void {
    if (text === '') return;
    // A signature may follow a thought, which the caller may not be told.
    if (kind !== 'thought') this.end(tell);
    tell(kind === 'text' && logprobs !== undefined ? { kind, text, logprobs } : { kind, text });
  }

  /** Tells the call that waits for its signature. */
  end(tell: Tell): void {
    if (this.#calls === undefined) return;
    for (const { call, text } of this.#calls.release()) tell({ kind: 'call', call, text });
  }
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Returns the first choice of a chunk or a completion. The request asks for only one. */
function firstChoice({ choices }: Json): Json | undefined {
  const found = listOf(choices).find((choice) => isObject(choice) && !(Number(choice.index) > 0));
  return isObject(found) ? found : undefined;
}

function tellEnd({ finish_reason: reason }: Json, tell: Tell): void {
  if (typeof reason === 'string') tell({ kind: 'end', reason });
}

/** Tells the usage of a chunk or a completion, unless it is missing or not plausible. */
function tellUsage({ usage: reported }: Json, tell: Tell): void {
  const usage = readUsage(reported);
  if (usage === null || !isObject(reported)) return;
  const { completion_tokens_details: details } = reported;
  const reasoningTokens = isObject(details) ? tokenCount(details.reasoning_tokens) : undefined;
  tell({ kind: 'usage', usage, ...(reasoningTokens !== undefined && { reasoningTokens }) });
}
