import { messageIdOf, toolIdOf } from '../messages/from-chat/chat-words.ts';
import type { CompletionReading } from '../messages/from-chat/message-of-completion.ts';
import { messageUsage } from '../messages/from-chat/message-usage.ts';
import { stopReasonOf } from '../messages/from-chat/stop-reason.ts';
import { translatedError } from '../providers/anthropic/broken-message.ts';
import type { Reported, TokenUsage } from '../providers/chat-rail.ts';
import type { AnswerEvent, AnswerWriter } from './answer-event.ts';
import { CallBlocks } from './call-blocks.ts';
import { MessageBlocks } from './message-blocks.ts';

/** Estimates of tokens, for an answer that has not ended or whose upstream reports no usage. */
type Reckoning = {
  /** Estimated tokens of the prompt, until the upstream reports their number. */
  readonly promptTokens: number;
  /** Returns the tokens to bill for an answer of `answerChars` characters. */
  tokensOf(answerChars: number): TokenUsage;
};

/**
 * Writes the events of a Messages stream. The usage comes in the last event, as the dialect requires; the first event has an
 * estimate of the prompt. Holds back only interleaved tool calls.
 */
export class MessageWriter implements AnswerWriter {
  readonly #reading: CompletionReading;
  readonly #reckoning: Reckoning;
  readonly #blocks = new MessageBlocks();
  readonly #calls: CallBlocks;
  #id: string | undefined;
  #reason: string | undefined;

  constructor(reading: CompletionReading, reckoning: Reckoning) {
    this.#reading = reading;
    this.#reckoning = reckoning;
    const idOf = (given: string, place: number) => toolIdOf(given, this.#id ?? '', place);
    this.#calls = new CallBlocks(this.#blocks, idOf, reading.names);
  }

  write(event: AnswerEvent): void {
    switch (event.kind) {
      case 'begin':
        this.#begin(event.id, event.model);
        break;
      case 'thought':
        this.#begin();
        this.#thought(event.text);
        break;
      case 'text':
      case 'refusal':
        this.#begin();
        // Text after a call ends the call.
        this.#calls.end();
        this.#blocks.text(event.text);
        break;
      case 'call':
        this.#begin();
        this.#calls.add(event.call, event.text);
        break;
      case 'end':
        this.#reason = event.reason;
        break;
      case 'alive':
        if (this.#id !== undefined) this.#blocks.event('ping');
        break;
      case 'error':
        throw translatedError(event.error);
      case 'usage':
    }
  }

  finish({ answerChars, usage }: Reported): void {
    this.#begin();
    this.#calls.end();
    this.#blocks.stop();
    this.#blocks.event('message_delta', {
      delta: {
        stop_reason: stopReasonOf(this.#reason, this.#calls.count > 0),
        stop_sequence: null,
      },
      usage: messageUsage(usage ?? this.#reckoning.tokensOf(answerChars)),
    });
  }

  take(): string {
    return this.#blocks.take();
  }

  #thought(text: string): void {
    if (!this.#reading.wantsThoughts) return;
    this.#calls.end();
    this.#blocks.thoughts(text);
  }

  /** Begins the message, unless it has begun. */
  #begin(id = '', model = ''): void {
    if (this.#id !== undefined) return;
    this.#id = messageIdOf(id, this.#reading.spareId);
    const inputTokens = this.#reckoning.promptTokens;
    const message = {
      id: this.#id,
      type: 'message',
      role: 'assistant',
      model: this.#reading.servedAs ?? model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: messageUsage({ inputTokens, cachedTokens: 0, outputTokens: 0 }),
    };
    this.#blocks.event('message_start', { message });
  }
}
