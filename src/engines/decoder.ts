/** A recogniser over 16 kHz sound. Every method may throw: what runs inside can trap. */
export interface Decoder {
  begin(): void;
  feed(pcm: Int16Array): void;
  /** What it believes so far. */
  hypothesis(): string;
  /** Ends the utterance and returns its text. */
  end(): string;
}
