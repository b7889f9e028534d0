import type { Json } from '../../kernel/json.ts';
import type { Reported, TokenUsage } from '../providers/chat-rail.ts';
import type { AnsweredCall } from './answered-calls.ts';

/**
 * Event of a model's answer, in no dialect. The reader of the upstream's dialect makes these events, and the writer of the
 * caller's dialect takes them.
 */
export type AnswerEvent =
  /** The upstream's id of the answer and name of the model; empty texts when it gave none. */
  | { readonly kind: 'begin'; readonly id: string; readonly model: string }
  | { readonly kind: 'text'; readonly text: string; readonly logprobs?: readonly unknown[] }
  | { readonly kind: 'refusal' | 'thought'; readonly text: string }
  /** Piece of a call's arguments, as it came. The first piece of a call may be empty. */
  | { readonly kind: 'call'; readonly call: AnsweredCall; readonly text: string }
  | { readonly kind: 'usage'; readonly usage: TokenUsage; readonly reasoningTokens?: number }
  /** Finish reason, as chat names it. */
  | { readonly kind: 'end'; readonly reason: string }
  /** Error with which the upstream ended its own answer. */
  | { readonly kind: 'error'; readonly error: Json }
  /** Comment or ping with which the upstream keeps the connection alive. */
  | { readonly kind: 'alive' };

export type Tell = (event: AnswerEvent) => void;

/** Answer of an upstream that is still arriving. */
export interface AnswerSource {
  /** Tells the events of the next piece. Resolves to false at the end. Throws StreamBroken. For one reader. */
  read(tell: Tell): Promise<boolean>;
  /** Usage of the answer up to now. */
  metered(): Reported;
  /** Stops reading and aborts the upstream request. */
  stop(): void;
}

/** Writes an answer in one dialect. */
export interface AnswerWriter {
  /** Throws when the event reports an error, or cannot be added to the answer. */
  write(event: AnswerEvent): void;
  /** Writes the end of the answer. `reported` is its usage. */
  finish(reported: Reported): void;
  /** Removes and returns the text of the next events; empty when no event waits. */
  take(): string;
  /** True while events wait to be taken: one `take` returns about `JSON_LIMITS.bytesPerTurn` bytes. Undefined: never. */
  readonly hasMore?: boolean;
}
