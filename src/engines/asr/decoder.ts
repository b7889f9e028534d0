import type { TimedWord } from '../engine.ts';

/** A recogniser over 16 kHz sound. Every method may throw: what runs inside can trap. */
export interface Decoder {
  begin(): void;
  feed(pcm: Int16Array): void;
  /** Returns the text of the utterance so far. */
  hypothesis(): string;
  /** Ends the utterance and returns its text. */
  end(): string;
  /** The words of what it said last, by the sound that it was fed since `begin`. Absent: it knows no times. */
  words?(): readonly TimedWord[];
  /** State of the line and its speaker that the decoder has learned. Absent: the decoder has none to give. */
  readonly adaptation?: readonly number[] | undefined;
  /** Replaces what it has learned; undefined: by what it began with. */
  adapt?(adaptation: readonly number[] | undefined): void;
}
