import type { TimedWord } from '../engine.ts';

/** A recogniser of 16 kHz audio. Every method may throw, because its WebAssembly can trap. */
export interface Decoder {
  begin(): void;
  feed(pcm: Int16Array): void;
  /** Returns the text of the utterance so far. */
  hypothesis(): string;
  /** Ends the utterance and returns its text. */
  end(): string;
  /**
   * Returns the words of the decoder's last result, timed by the audio fed since `begin`. Absent when the decoder has no word
   * times.
   */
  words?(): readonly TimedWord[];
  /** Learned state of the line and its speaker. Absent when the decoder has none to give. */
  readonly adaptation?: readonly number[] | undefined;
  /** Replaces the learned state of line and speaker. With undefined, restores the initial state. */
  adapt?(adaptation: readonly number[] | undefined): void;
}
