import type { Json } from '../kernel/json.ts';

export type SpeakClose = { readonly code: number; readonly reason: string };

/** What a dialect asks of its session. */
export interface SpeakControls {
  say(message: Json): void;
  /** Tells of what was not done. The session goes on. */
  warn(code: string, description: string): void;
  /** Tells of an error, and closes. */
  fail(code: string, description: string, closeCode: number): void;
  /** Whether a text may be spoken behind what waits; warns where it may not. */
  mayTake(text: unknown): text is string;
  /** Speaks a text that may be taken. */
  take(text: string): void;
  /** Counts a flush; warns where there were too many. */
  mayFlush(): boolean;
  /** Speaks what has no end yet as well, and calls back once all that was taken is spoken. */
  flush(spoken: () => void): void;
  /** Stops, and buys nothing of what waits. Calls back once the sentence under way is over. */
  stop(stopped?: () => void): void;
  /** How fast the next sentence is spoken. */
  setSpeed(speed: number): void;
  /** Takes no more, speaks what was taken and closes. */
  finish(closing: SpeakClose): void;
}

/** How a sentence goes. */
export interface Sentence {
  bought(characters: number, chargedRaw: bigint): void;
  /** So many bytes of sound go to the client. */
  sent(bytes: number): void;
  /** All of it was sent. */
  ended(): void;
}

/** The protocol of a session: what its client may say, and what it is told. */
export interface SpeakDialect {
  opened(): void;
  /** Does what a client asks for. `message` is undefined where `data` is no short JSON object. */
  read(message: Json | undefined, data: string | Uint8Array): void;
  warning(code: string, description: string): Json;
  /** A sentence is about to be bought. */
  begin(text: string): Sentence;
  /** All is spoken, and the socket closes now. */
  ending(): void;
}
