import type { CutReason } from '../../../machines/voice-turn.ts';
import { tryParseJson } from '../../kernel/json/parse-json.ts';
import { isObject, type Json } from '../../kernel/json.ts';
import { LIMITS } from '../../kernel/limits.ts';
import { StreamBroken } from '../../models/providers/openai/answer-reader.ts';
import { parseData } from '../../models/providers/openai/chat-tap.ts';
import { SseEvents } from '../../models/providers/openai/sse-events.ts';
import type { LlmPiece } from '../session/voice-pipeline.ts';

type PartialCall = { name: string; callId: string; argumentsJson: string };

/** Parses a streamed chat into pieces: words as they come, calls when they are complete. Drops what exceeds a bound. */
export class ChatPieces {
  readonly #events = new SseEvents();
  /** By their index in the answer. */
  readonly #calls = new Map<number, PartialCall>();
  /** Characters of words. */
  #textChars = 0;
  /** Characters of words, reasoning and call arguments. */
  #chars = 0;
  #isFull = false;
  #cut: CutReason | undefined;

  /** Why the answer was cut short: it is too long, a call in it is incomplete, or a content filter stopped it. */
  get cut(): CutReason | undefined {
    return this.#cut ?? (this.#isFull ? 'max_output_tokens' : undefined);
  }

  /** The answer has its longest length; the rest is dropped. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** Returns the words in a chunk of whole events. Throws StreamBroken at an event that reports an error. */
  push(chunk: Uint8Array): LlmPiece[] {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    return this.#events.push(bytes).flatMap((event) => this.#read(parseData(event)));
  }

  /** Returns the complete calls, in order: a client executes them as they are. */
  end(): LlmPiece[] {
    const calls = [...this.#calls.entries()].sort(([a], [b]) => a - b).map(([, call]) => call);
    // In an answer that was cut, a call without arguments is incomplete.
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
    // Some upstreams then end the stream as if it were complete.
    if (event.error) throw new StreamBroken('it told of an error');
    if (!isObject(choice)) return [];
    if (choice.finish_reason === 'error') throw new StreamBroken('it ended with an error');
    if (choice.finish_reason === 'length') this.#cut = 'max_output_tokens';
    if (choice.finish_reason === 'content_filter') this.#cut = 'content_filter';
    const { delta } = choice;
    if (!isObject(delta)) return [];
    if (Array.isArray(delta.tool_calls)) for (const call of delta.tool_calls) this.#call(call);
    for (const thought of [delta.reasoning_content, delta.reasoning]) {
      if (isText(thought)) this.#count(thought);
    }
    const pieces: LlmPiece[] = [];
    for (const text of [delta.content, delta.refusal]) {
      if (!isText(text)) continue;
      this.#textChars += text.length;
      if (this.#textChars > LIMITS.realtimeReplyChars) this.#isFull = true;
      this.#count(text);
      pieces.push({ kind: 'text', text });
    }
    return pieces;
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
    const more = given.arguments;
    if (isText(more)) {
      this.#count(more);
      call.argumentsJson += more;
    }
    if (call.argumentsJson.length <= LIMITS.realtimeItemChars) return;
    // A client could not send back a call that is longer than an item.
    this.#calls.delete(index);
    this.#isFull = true;
  }

  #count(text: string): void {
    this.#chars += text.length;
    if (this.#chars > LIMITS.realtimeAnswerChars) this.#isFull = true;
  }
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

const isJson = (text: string): boolean => tryParseJson(text) !== undefined;
