import type { CutReason } from '../../../machines/voice-turn.ts';
import { isObject, type Json } from '../../kernel/json.ts';
import { LIMITS } from '../../kernel/limits.ts';
import { tryParseJson } from '../../kernel/parse-json.ts';
import { StreamBroken } from '../../models/providers/openai/answer-reader.ts';
import { parseData } from '../../models/providers/openai/chat-tap.ts';
import { SseEvents } from '../../models/providers/openai/sse-events.ts';
import type { LlmPiece } from '../session/voice-pipeline.ts';

type PartialCall = { name: string; callId: string; argumentsJson: string };

/**
 * Reads the events of a streamed chat as pieces of an answer: words as they come, calls when they are whole. What is
 * past a bound is not kept.
 */
export class ChatPieces {
  readonly #events = new SseEvents();
  /** By their number in the answer. */
  readonly #calls = new Map<number, PartialCall>();
  /** What the model said. */
  #textChars = 0;
  /** All that it wrote: what it said, what it thought, and what it called with. */
  #chars = 0;
  #isFull = false;
  #cut: CutReason | undefined;

  /** The answer ended because it had become too long, or a call in it is not whole, or its upstream would not have it. */
  get cut(): CutReason | undefined {
    return this.#cut ?? (this.#isFull ? 'max_output_tokens' : undefined);
  }

  /** Nothing more of the answer is taken: it is longer than an answer may be. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** The words in a chunk of whole events. Throws StreamBroken where the upstream says in one that it cannot go on. */
  push(chunk: Uint8Array): LlmPiece[] {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    return this.#events.push(bytes).flatMap((event) => this.#read(parseData(event)));
  }

  /** The calls that are whole, in their order: a client acts on them as they stand. */
  end(): LlmPiece[] {
    const calls = [...this.#calls.entries()].sort(([a], [b]) => a - b).map(([, call]) => call);
    // Of an answer that was cut, a call without arguments has yet to get them.
    const none = this.cut === undefined ? '{}' : '';
    const pieces = calls.map(({ argumentsJson, callId, name }) => ({
      kind: 'call' as const,
      name,
      argumentsJson: argumentsJson || none,
      ...(callId !== '' && { callId }),
    }));
    const whole = pieces.filter(({ argumentsJson, name }) => name !== '' && isJson(argumentsJson));
    if (whole.length < pieces.length) this.#cut ??= 'max_output_tokens';
    return whole;
  }

  #read(event: unknown): LlmPiece[] {
    if (this.#isFull || !isObject(event)) return [];
    const choice = Array.isArray(event.choices) ? event.choices[0] : undefined;
    // Some then end the stream as if it were whole.
    if (event.error) throw new StreamBroken('it told of an error');
    if (!isObject(choice)) return [];
    if (choice.finish_reason === 'error') throw new StreamBroken('it ended with an error');
    if (choice.finish_reason === 'length') this.#cut = 'max_output_tokens';
    if (choice.finish_reason === 'content_filter') this.#cut = 'content_filter';
    const { delta } = choice;
    if (!isObject(delta)) return [];
    if (Array.isArray(delta.tool_calls)) for (const call of delta.tool_calls) this.#call(call);
    for (const thought of textsOf(delta.reasoning_content, delta.reasoning)) {
      this.#count(thought);
    }
    return textsOf(delta.content, delta.refusal).map((text) => {
      this.#textChars += text.length;
      if (this.#textChars > LIMITS.realtimeReplyChars) this.#isFull = true;
      this.#count(text);
      return { kind: 'text', text };
    });
  }

  #call(delta: unknown): void {
    if (this.#isFull || !isObject(delta)) return;
    const index = typeof delta.index === 'number' ? delta.index : 0;
    const given: Json = isObject(delta.function) ? delta.function : {};
    let call = this.#calls.get(index);
    if (call === undefined) {
      if (this.#calls.size >= LIMITS.realtimeTools) {
        this.#isFull = true;
        return;
      }
      call = { name: '', callId: '', argumentsJson: '' };
      this.#calls.set(index, call);
    }
    if (typeof delta.id === 'string' && call.callId === '') call.callId = delta.id.slice(0, 64);
    if (typeof given.name === 'string') call.name ||= given.name.slice(0, 128);
    for (const more of textsOf(given.arguments)) {
      this.#count(more);
      call.argumentsJson += more;
    }
    if (call.argumentsJson.length <= LIMITS.realtimeItemChars) return;
    // What is longer than an item may be could not be sent back.
    this.#calls.delete(index);
    this.#isFull = true;
  }

  #count(text: string): void {
    this.#chars += text.length;
    if (this.#chars > LIMITS.realtimeAnswerChars) this.#isFull = true;
  }
}

const textsOf = (...values: readonly unknown[]): string[] =>
  values.filter((value) => typeof value === 'string' && value !== '') as string[];

const isJson = (text: string): boolean => tryParseJson(text) !== undefined;
