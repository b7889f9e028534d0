import type { Usage } from '../kernel/price.ts';

/**
 * Counts the audio of a stream against what is held for it. The hold grows by whole slices; audio
 * beyond it is not admitted, to the byte.
 */
export class AudioMeter {
  readonly #bytesPerSecond: number;
  readonly #sliceBytes: number;
  readonly #price: (usage: Usage) => bigint;
  #heldBytes: number;
  #usedBytes = 0;
  #billedBytes = 0;

  constructor(options: {
    readonly bytesPerSecond: number;
    readonly sliceSeconds: number;
    /** The price of everything so far; must not fall as usage grows. */
    readonly price: (usage: Usage) => bigint;
  }) {
    this.#bytesPerSecond = options.bytesPerSecond;
    this.#sliceBytes = options.bytesPerSecond * options.sliceSeconds;
    this.#price = options.price;
    this.#heldBytes = this.#sliceBytes;
  }

  /** How many of these bytes are paid for. They count as used from here on. */
  admit(bytes: number): number {
    const admitted = Math.min(bytes, this.#heldBytes - this.#usedBytes);
    this.#usedBytes += admitted;
    return admitted;
  }

  /** One more slice is held. */
  grantSlice(): void {
    this.#heldBytes += this.#sliceBytes;
  }

  /** Less than half a slice is left, so that the next one is asked for before it is needed. */
  get isLow(): boolean {
    return this.#heldBytes - this.#usedBytes < this.#sliceBytes / 2;
  }

  get isSpent(): boolean {
    return this.#usedBytes === this.#heldBytes;
  }

  get seconds(): number {
    return this.#usedBytes / this.#bytesPerSecond;
  }

  /** A whole slice waits for its line in the journal. */
  get sliceIsDue(): boolean {
    return this.#usedBytes - this.#billedBytes >= this.#sliceBytes;
  }

  /**
   * What was used since the last call, priced so that all lines add up to the price of the whole:
   * rounding happens once, however the stream is cut.
   */
  takeBill(): { readonly costRaw: bigint; readonly usage: Usage } | undefined {
    if (this.#usedBytes === this.#billedBytes) return undefined;
    const before = this.#secondsAt(this.#billedBytes);
    const after = this.#secondsAt(this.#usedBytes);
    this.#billedBytes = this.#usedBytes;
    return {
      costRaw: this.#price({ audio_second: after }) - this.#price({ audio_second: before }),
      usage: { audio_second: Math.round((after - before) * 1_000) / 1_000 },
    };
  }

  /** Whole milliseconds, which is what a price can say. */
  #secondsAt(bytes: number): number {
    return Math.round((bytes / this.#bytesPerSecond) * 1_000) / 1_000;
  }
}
