import type { Json } from '../kernel/json.ts';

export type SpeakClose = { readonly code: number; readonly reason: string };

/** Operations of a session that its dialect can call. */
export interface SpeakControls {
  say(message: Json): void;
  /** Sends a warning about a message that the session ignores. The session goes on. */
  warn(code: string, description: string): void;
  /** Sends an error and closes the socket. */
  fail(code: string, description: string, closeCode: number): void;
  /** Returns true when the queue has room for a text. Otherwise, or when `text` is no text, sends a warning. */
  mayTake(text: unknown): text is string;
  /** Queues a text that `mayTake` accepted. */
  take(text: string): void;
  /** Counts a flush; sends a warning and answers false where the client flushes too often. */
  mayFlush(): boolean;
  /** Speaks an unfinished sentence too, and calls `spoken` once everything in the queue was sent. */
  flush(spoken: () => void): void;
  /** Stops the current sentence and drops the queue, unbought. Calls `stopped` once the current sentence has ended. */
  stop(stopped?: () => void): void;
  /** Sets the speed at which the next sentence is spoken. */
  setSpeed(speed: number): void;
  /** Reads no more messages, speaks the queued texts and closes the socket. */
  finish(closing: SpeakClose): void;
}

/** The session calls these as it buys and sends one sentence. */
export interface Sentence {
  bought(characters: number, chargedRaw: bigint): void;
  /** The session sends `bytes` of sound to the client. */
  sent(bytes: number): void;
  /** The session has sent all of its sound. */
  ended(): void;
}

/** One of Deepgram's protocols for live speech: reads the client's messages and writes the server's. */
export interface SpeakDialect {
  opened(): void;
  /** Carries out a message of the client. `message` is undefined where `data` is too long or no JSON object. */
  read(message: Json | undefined, data: string | Uint8Array): void;
  warning(code: string, description: string): Json;
  /** Called before the purchase of a sentence. Returns the receiver of the sentence's events. */
  begin(text: string): Sentence;
  /** The session has spoken everything and closes the socket next. */
  ending(): void;
}
