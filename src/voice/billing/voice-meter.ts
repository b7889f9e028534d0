import type { Usage } from '../../kernel/price.ts';

/**
 * Counts the audio of a stream against what is held for it. The hold grows by whole slices; audio
 * beyond it is not admitted, to the byte. What is billed is what was heard of it, as it is told.
 */
export class AudioMeter {
  readonly #bytesPerSecond: number;
  readonly #sliceBytes: number;
  readonly #price: (usage: Usage) => bigint;
  readonly #once: Usage;
  #heldBytes: number;
  #usedBytes = 0;
  #toldBytes = 0;
  #billedBytes = 0;

  constructor(options: {
    readonly bytesPerSecond: number;
    readonly sliceSeconds: number;
    /** What is held at first, in whole seconds; a slice where it is not said. */
    readonly heldSeconds?: number;
    /** The price of everything so far; must not fall as usage grows. */
    readonly price: (usage: Usage) => bigint;
    /** What the first audio buys beside its seconds. */
    readonly once?: Usage;
  }) {
    this.#bytesPerSecond = options.bytesPerSecond;
    this.#sliceBytes = options.bytesPerSecond * options.sliceSeconds;
    this.#price = options.price;
    this.#once = options.once ?? {};
    this.#heldBytes = options.bytesPerSecond * (options.heldSeconds ?? options.sliceSeconds);
  }

  /** How many of these bytes are paid for. They count as used from here on. */
  admit(bytes: number): number {
    const admitted = Math.min(bytes, this.#heldBytes - this.#usedBytes);
    this.#usedBytes += admitted;
    return admitted;
  }

  /** So many more seconds are held. */
  grant(seconds: number): void {
    this.#heldBytes += this.#bytesPerSecond * seconds;
  }

  /** Less than half a slice is left, so that the next one is asked for before it is needed. */
  get isLow(): boolean {
    return this.#heldBytes - this.#usedBytes < this.#sliceBytes / 2;
  }

  get isSpent(): boolean {
    return this.#usedBytes === this.#heldBytes;
  }

  /** What is billed, or will be. */
  get seconds(): number {
    return this.#toldBytes / this.#bytesPerSecond;
  }

  /** So much of the stream was heard. It never falls, and never passes what was admitted. */
  hearUpTo(seconds: number): void {
    const bytes = Math.min(Math.round(seconds * this.#bytesPerSecond), this.#usedBytes);
    this.#toldBytes = Math.max(this.#toldBytes, bytes);
  }

  /** A whole slice waits for its line in the journal. */
  get sliceIsDue(): boolean {
    return this.#toldBytes - this.#billedBytes >= this.#sliceBytes;
  }

  /**
   * What was heard since the last call, priced so that all lines add up to the price of the whole:
   * rounding happens once, however the stream is cut.
   */
  takeBill(): { readonly costRaw: bigint; readonly usage: Usage } | undefined {
    if (this.#toldBytes === this.#billedBytes) return undefined;
    const before = this.#secondsAt(this.#billedBytes);
    const after = this.#secondsAt(this.#toldBytes);
    this.#billedBytes = this.#toldBytes;
    return {
      costRaw: this.#priceOf(after) - this.#priceOf(before),
      usage: {
        audio_second: Math.round((after - before) * 1_000) / 1_000,
        ...(before === 0 && after > 0 && this.#once),
      },
    };
  }

  #priceOf(seconds: number): bigint {
    return seconds === 0 ? 0n : this.#price({ audio_second: seconds, ...this.#once });
  }

  /** Whole milliseconds, which is what a price can say. */
  #secondsAt(bytes: number): number {
    return Math.round((bytes / this.#bytesPerSecond) * 1_000) / 1_000;
  }
}
