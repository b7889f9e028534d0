import { isObject, type Json } from '../../../kernel/json.ts';
import { contentText } from '../../chat/read-answer.ts';
import { translatedError } from '../../providers/anthropic/broken-message.ts';
import { textMember } from '../../providers/anthropic/read-json.ts';
import type { ChatStream, TokenUsage } from '../../providers/chat-rail.ts';
import type { StreamBroken } from '../../providers/openai/answer-reader.ts';
import { readData } from '../../providers/openai/chat-tap.ts';
import { ChunkTemplate } from '../../providers/openai/chunk-template.ts';
import { SseEvents } from '../../providers/openai/sse-events.ts';
import { CallBlocks } from './call-blocks.ts';
import { messageIdOf, readThoughts, toolIdOf } from './chat-words.ts';
import type { CompletionReading } from './message-of-completion.ts';
import { messageUsage } from './message-usage.ts';
import { MessageWriter } from './message-writer.ts';
import { stopReasonOf } from './stop-reason.ts';

/** Estimates of tokens, for an answer that has not ended or whose upstream reports no usage. */
export type Reckoning = {
  /** Estimated tokens of the prompt, until the upstream reports their number. */
  readonly promptTokens: number;
  /** Returns the tokens to bill for an answer of `answerChars` characters. */
  tokensOf(answerChars: number): TokenUsage;
};

/** Translates the events of another dialect into chunks of chat. */
export interface ChunkReader {
  /** Returns the chunk of chat with the content of an event. Undefined when the event has no content for a message. */
  chunkOf(event: Json): Json | undefined;
  /** Returns the chunk with the finish reason. Called after the last event. */
  lastChunk(): Json;
}

/**
 * Translates a stream of the OpenAI dialect into the events of a message while it arrives. The usage comes in the last event,
 * as the dialect requires; the first event has an estimate of the prompt. Holds back only interleaved tool calls.
 */
export class MessageStream implements ChatStream {
  readonly #chat: ChatStream;
  readonly #reading: CompletionReading;
  readonly #reckoning: Reckoning;
  readonly #reader: ChunkReader | undefined;
  readonly #events = new SseEvents();
  readonly #alike = new ChunkTemplate();
  readonly #writer = new MessageWriter();
  #id: string | undefined;
  readonly #calls: CallBlocks;
  #finishReason: unknown;
  #isOver = false;
  #broken: StreamBroken | undefined;

  /** `reader` translates the events of an upstream that does not send chunks of chat. */
  constructor(
    chat: ChatStream,
    reading: CompletionReading,
    reckoning: Reckoning,
    reader?: ChunkReader,
  ) {
    this.#chat = chat;
    this.#reading = reading;
    this.#reckoning = reckoning;
    this.#reader = reader;
    this.#calls = new CallBlocks(this.#writer, {
      idOf: (given, place) => toolIdOf(given, this.#id ?? '', place),
      signsCalls: reading.signsCalls === true,
      names: reading.names,
    });
  }

  async next(): Promise<Uint8Array | undefined> {
    for (;;) {
      if (this.#broken !== undefined) throw this.#broken;
      if (this.#isOver) return undefined;
      const chunks = await this.#chat.next();
      if (chunks === undefined) this.#finish();
      else await this.#read(chunks);
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

  async #read(chunks: Uint8Array): Promise<void> {
    const bytes = Buffer.from(chunks.buffer, chunks.byteOffset, chunks.byteLength);
    for (const event of this.#events.push(bytes)) {
      if (event[0] === COMMENT) {
        if (this.#id !== undefined) this.#writer.event('ping');
        continue;
      }
      const text = this.#alike.textOf(event);
      if (text !== undefined) {
        this.#words(text);
        continue;
      }
      const data = await readData(event);
      if (isObject(data)) this.#alike.remember(event, data);
      const chunk =
        this.#reader !== undefined && isObject(data) ? this.#reader.chunkOf(data) : data;
      const broken = this.#look(chunk);
      if (broken === undefined) continue;
      this.#broken = broken;
      this.stop();
      return;
    }
  }

  #look(chunk: unknown): StreamBroken | undefined {
    // Data that is no object is ignored.
    if (!isObject(chunk)) return undefined;
    if (isObject(chunk.error)) return translatedError(chunk.error);
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
      model: this.#reading.servedAs ?? textMember(chunk, 'model'),
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: messageUsage({ inputTokens, cachedTokens: 0, outputTokens: 0 }),
    };
    this.#writer.event('message_start', { message });
  }

  #say(delta: Json): StreamBroken | undefined {
    const thoughts = this.#reading.wantsThoughts ? readThoughts(delta) : '';
    if (thoughts !== '') this.#calls.end();
    this.#writer.thoughts(thoughts);
    this.#words(contentText(delta.content) + textMember(delta, 'refusal'));
    return this.#calls.hear(delta.tool_calls);
  }

  /** Writes text. Text after a call ends the call. */
  #words(text: string): void {
    if (text === '') return;
    this.#calls.end();
    this.#writer.text(text);
  }

  #finish(): void {
    this.#isOver = true;
    this.#broken = this.#reader && this.#look(this.#reader.lastChunk());
    if (this.#broken !== undefined) return;
    if (this.#id === undefined) this.#begin({});
    this.#calls.end();
    this.#writer.stop();
    const { answerChars, usage } = this.metered();
    this.#writer.event('message_delta', {
      delta: {
        stop_reason: stopReasonOf(this.#finishReason, this.#calls.count > 0),
        stop_sequence: null,
      },
      usage: messageUsage(usage ?? this.#reckoning.tokensOf(answerChars)),
    });
  }
}

const COMMENT = 0x3a;
