import type { Json } from '../../../kernel/json.ts';

export type SpeakClose = { readonly code: number; readonly reason: string };

/** Operations of a session that its dialect can call. */
export interface SpeakControls {
  say(message: Json): void;
  /** Sends a warning about a message that the session ignores, and keeps the session open. */
  warn(code: string, description: string): void;
  /** Sends an error and closes the socket. */
  fail(code: string, description: string, closeCode: number): void;
  /** Returns true when the queue has room for a text. Otherwise, or when `text` is no text, sends a warning. */
  mayTake(text: unknown): text is string;
  /** Queues a text that `mayTake` accepted. */
  take(text: string): void;
  /** Counts a flush. Sends a warning and returns false when the client flushes too often. */
  mayFlush(): boolean;
  /** Queues the unfinished sentence too, and calls `spoken` once the audio of the whole queue was sent. */
  flush(spoken: () => void): void;
  /** Stops the current sentence and drops the queue without buying it. Calls `stopped` once the current sentence has ended. */
  stop(stopped?: () => void): void;
  /** Sets the speed at which the next sentence is spoken. */
  setSpeed(speed: number): void;
  /** Reads no more messages, speaks the queued texts and closes the socket. */
  finish(closing: SpeakClose): void;
}

/** Receiver of one sentence's events, which the session calls as it buys the sentence and sends its audio. */
export interface Sentence {
  bought(characters: number, chargedRaw: bigint): void;
  /** The session sends `bytes` of sound to the client. */
  sent(bytes: number): void;
  /** Called when the session has sent all audio of the sentence. */
  ended(): void;
}

/** One of Deepgram's protocols for live speech: reads the client's messages and writes the server's. */
export interface SpeakDialect {
  opened(): void;
  /** Carries out a client's message. `message` is undefined when `data` is too long or is not a JSON object. */
  read(message: Json | undefined, data: string | Uint8Array): void;
  warning(code: string, description: string): Json;
  /** Called before the purchase of a sentence. Returns the receiver of the sentence's events. */
  begin(text: string): Sentence;
  /** Called when the session has spoken every text and is about to close the socket. */
  ending(): void;
}
