import { isObject, type Json } from '../../../kernel/json.ts';
import { LIMITS } from '../../../kernel/limits.ts';
import { reportedError } from '../../providers/anthropic/broken-message.ts';
import { textMember } from '../../providers/anthropic/read-json.ts';
import type { ChatStream, TokenUsage } from '../../providers/chat-rail.ts';
import { StreamBroken } from '../../providers/openai/answer-reader.ts';
import { parseData } from '../../providers/openai/chat-tap.ts';
import { SseEvents } from '../../providers/openai/sse-events.ts';
import { messageIdOf, readThoughts, toolIdOf } from './chat-words.ts';
import type { Reading } from './message-of-completion.ts';
import { messageUsage } from './message-usage.ts';
import { MessageWriter } from './message-writer.ts';
import { stopReasonOf } from './stop-reason.ts';

/** How the tokens of an answer are reckoned that is not over, or whose upstream counts none. */
export type Reckoning = {
  /** What the prompt is taken for before its upstream has counted it. */
  readonly promptTokens: number;
  /** What is billed for an answer of so many characters. */
  tokensOf(answerChars: number): TokenUsage;
};

/**
 * Turns a stream of the OpenAI dialect into the events of a message as it comes. The usage stands at the end, where the dialect
 * has its totals; before that the prompt is estimated. Holds nothing of the answer.
 */
export class MessageStream implements ChatStream {
  readonly #chat: ChatStream;
  readonly #reading: Reading;
  readonly #reckoning: Reckoning;
  readonly #events = new SseEvents();
  readonly #writer = new MessageWriter();
  #id: string | undefined;
  /** The upstream's number of the call that is open, and how many there were. */
  #call: unknown;
  readonly #calls = new Set<unknown>();
  #finishReason: unknown;
  #isOver = false;
  #broken: StreamBroken | undefined;

  constructor(chat: ChatStream, reading: Reading, reckoning: Reckoning) {
    this.#chat = chat;
    this.#reading = reading;
    this.#reckoning = reckoning;
  }

  async next(): Promise<Uint8Array | undefined> {
    for (;;) {
      if (this.#broken !== undefined) throw this.#broken;
      if (this.#isOver) return undefined;
      const chunks = await this.#chat.next();
      if (chunks === undefined) this.#finish();
      else this.#read(chunks);
      const events = this.#writer.taken();
      if (events !== '') return Buffer.from(events);
    }
  }

  metered() {
    return this.#chat.metered();
  }

  stop(): void {
    this.#chat.stop();
  }

  #read(chunks: Uint8Array): void {
    const bytes = Buffer.from(chunks.buffer, chunks.byteOffset, chunks.byteLength);
    for (const event of this.#events.push(bytes)) {
      if (event[0] === COMMENT) {
        if (this.#id !== undefined) this.#writer.event('ping');
        continue;
      }
      const broken = this.#look(parseData(event));
      if (broken === undefined) continue;
      this.#broken = broken;
      this.stop();
      return;
    }
  }

  #look(chunk: unknown): StreamBroken | undefined {
    // Whatever else it is says nothing.
    if (!isObject(chunk)) return undefined;
    if (isObject(chunk.error)) return reportedError(chunk.error);
    this.#begin(chunk);
    const choice: unknown = Array.isArray(chunk.choices) ? chunk.choices[0] : undefined;
    if (!isObject(choice)) return undefined;
    if (typeof choice.finish_reason === 'string') this.#finishReason = choice.finish_reason;
    return isObject(choice.delta) ? this.#say(choice.delta) : undefined;
  }

  #begin(chunk: Json): void {
    if (this.#id !== undefined) return;
    this.#id = messageIdOf(chunk.id, this.#reading.spareId);
    const inputTokens = this.#reckoning.promptTokens;
    const message = {
      id: this.#id,
      type: 'message',
      role: 'assistant',
      model: textMember(chunk, 'model'),
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: messageUsage({ inputTokens, cachedTokens: 0, outputTokens: 0 }),
    };
    this.#writer.event('message_start', { message });
  }

  #say(delta: Json): StreamBroken | undefined {
    const thoughts = this.#reading.wantsThoughts ? readThoughts(delta) : '';
    const text = textMember(delta, 'content') + textMember(delta, 'refusal');
    this.#writer.thoughts(thoughts);
    this.#writer.text(text);
    // What is said behind a call ends it.
    if (thoughts !== '' || text !== '') this.#call = undefined;
    const { tool_calls: calls } = delta;
    for (const call of Array.isArray(calls) ? (calls as unknown[]) : []) {
      const broken = isObject(call) ? this.#hear(call) : undefined;
      if (broken !== undefined) return broken;
    }
    return undefined;
  }

  /** A piece of a call. Models write one after the other, and so does the dialect. */
  #hear(call: Json): StreamBroken | undefined {
    const called = isObject(call.function) ? call.function : {};
    const number = call.index ?? this.#calls.size;
    if (this.#call !== number) {
      if (this.#calls.has(number)) return new StreamBroken('a tool call goes on behind another');
      if (this.#calls.size >= LIMITS.toolCallsPerAnswer) {
        return new StreamBroken('there is one tool call too many');
      }
      const id = toolIdOf(call.id, this.#id ?? '', this.#calls.size);
      this.#calls.add(number);
      this.#call = number;
      this.#writer.startCall(id, textMember(called, 'name'));
    }
    this.#writer.input(textMember(called, 'arguments'));
    return undefined;
  }

  #finish(): void {
    this.#isOver = true;
    if (this.#id === undefined) this.#begin({});
    this.#writer.stop();
    const { answerChars, usage } = this.metered();
    this.#writer.event('message_delta', {
      delta: {
        stop_reason: stopReasonOf(this.#finishReason, this.#calls.size > 0),
        stop_sequence: null,
      },
      usage: messageUsage(usage ?? this.#reckoning.tokensOf(answerChars)),
    });
  }
}

const COMMENT = 0x3a;
