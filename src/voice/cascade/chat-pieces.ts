import type { CutReason } from '../../../machines/voice-turn.ts';
import { tryParseJson } from '../../kernel/json/parse-json.ts';
import { isObject } from '../../kernel/json.ts';
import { type AnsweredCall, AnsweredCalls } from '../../models/dialects/answered-calls.ts';
import { MODEL_LIMITS } from '../../models/limits.ts';
import { StreamBroken } from '../../models/providers/openai/answer-reader.ts';
import { parseData } from '../../models/providers/openai/chat-tap.ts';
import { SseEvents } from '../../models/providers/openai/sse-events.ts';
import { ReportedError } from '../../models/providers/reported-error.ts';
import { VOICE_LIMITS } from '../limits.ts';
import type { BrokenCall, LlmPiece } from '../session/voice-pipeline.ts';

/**
 * Parses a streamed chat into pieces: words as they arrive, function calls when they are complete. Drops content beyond a
 * bound.
 */
export class ChatPieces {
  readonly #events = new SseEvents();
  readonly #calls = new AnsweredCalls();
  /** JSON arguments of each call, as received up to now. */
  readonly #arguments = new Map<AnsweredCall, string>();
  readonly #broken: BrokenCall[] = [];
  /** Characters of words. */
  #textChars = 0;
  /** Characters of words, reasoning and call arguments. */
  #chars = 0;
  #isFull = false;
  #cut: CutReason | undefined;

  /** Reason why the answer was cut: it is too long, a call in it is incomplete, or a content filter stopped it. */
  get cut(): CutReason | undefined {
    return this.#cut ?? (this.#isFull ? 'max_output_tokens' : undefined);
  }

  /** True when the answer has reached its maximum length. Everything after that is dropped. */
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
    const calls = [...this.#arguments].sort(([a], [b]) => numberOf(a) - numberOf(b));
    // In an answer that was cut, a call without arguments is incomplete.
    const none = this.cut === undefined ? '{}' : '';
    const pieces = calls.map(([call, text]) => ({
      kind: 'call' as const,
      ...namesOf(call),
      argumentsJson: text || none,
    }));
    const whole = pieces.filter(({ argumentsJson, name }) => name !== '' && isJson(argumentsJson));
    for (const [call, text] of calls) if (!isJson(text || none)) this.#breaks(call, NOT_READABLE);
    if (whole.length < pieces.length) this.#cut ??= 'max_output_tokens';
    return whole;
  }

  /** Returns the calls that `end` left out; known after `end`. They must not be executed, but the model may get the reason. */
  get broken(): readonly BrokenCall[] {
    return this.#broken;
  }

  #read(event: unknown): LlmPiece[] {
    if (this.#isFull || !isObject(event)) return [];
    const choice = Array.isArray(event.choices) ? event.choices[0] : undefined;
    // Some upstreams report an error in an event and then end the stream as if it were complete.
    if (event.error) throw new ReportedError(event.error);
    if (!isObject(choice)) return [];
    if (choice.finish_reason === 'error') throw new StreamBroken('it ended with an error');
    if (choice.finish_reason === 'length') this.#cut = 'max_output_tokens';
    if (choice.finish_reason === 'content_filter') this.#cut = 'content_filter';
    const { delta } = choice;
    if (!isObject(delta)) return [];
    for (const { call, text } of this.#calls.hear(delta.tool_calls)) this.#call(call, text);
    for (const thought of [delta.reasoning_content, delta.reasoning]) {
      if (isText(thought)) this.#count(thought);
    }
    const pieces: LlmPiece[] = [];
    for (const text of [delta.content, delta.refusal]) {
      if (!isText(text)) continue;
      this.#textChars += text.length;
      if (this.#textChars > VOICE_LIMITS.realtime.replyChars) this.#isFull = true;
      this.#count(text);
      pieces.push({ kind: 'text', text });
    }
    return pieces;
  }

  #call(call: AnsweredCall, text: string): void {
    if (this.#isFull) return;
    const known = this.#arguments.get(call);
    if (known === undefined && this.#arguments.size >= VOICE_LIMITS.realtime.tools) {
      this.#isFull = true;
      return;
    }
    if (text !== '') this.#count(text);
    const whole = (known ?? '') + text;
    this.#arguments.set(call, whole);
    if (whole.length <= MODEL_LIMITS.link.itemChars) return;
    // A call that is longer than an item is dropped, because a client could not send it back.
    this.#arguments.delete(call);
    this.#isFull = true;
    this.#breaks(call, TOO_LONG);
  }

  #breaks(call: AnsweredCall, problem: string): void {
    if (call.name !== '') this.#broken.push({ kind: 'broken', ...namesOf(call), problem });
  }

  #count(text: string): void {
    this.#chars += text.length;
    if (this.#chars > VOICE_LIMITS.realtime.answerChars) this.#isFull = true;
  }
}

const NOT_READABLE =
  'The arguments are no whole JSON, or are nested too deeply. Call the function again with a JSON object.';
const TOO_LONG = `The arguments have more than ${MODEL_LIMITS.link.itemChars} characters. Call the function again with fewer.`;

const namesOf = ({ id, name }: AnsweredCall) => ({
  name: name.slice(0, 128),
  ...(id !== '' && { callId: id.slice(0, 64) }),
});

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

/** Returns the position of a call: its index when the upstream sends one, else its place in the stream. */
const numberOf = ({ index, place }: AnsweredCall): number => index ?? place;

const isJson = (text: string): boolean => tryParseJson(text) !== undefined;
