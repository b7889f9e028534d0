import type { Usage } from '../../kernel/price.ts';

/** Counts a stream's audio against its hold, to the byte. Only heard audio is billed. */
export class AudioMeter {
  readonly #bytesPerSecond: number;
  readonly #sliceBytes: number;
  readonly #price: (usage: Usage) => bigint;
  readonly #once: Usage;
  #heldBytes: number;
  #usedBytes = 0;
  #heardBytes = 0;
  #billedBytes = 0;

  constructor(options: {
    readonly bytesPerSecond: number;
    readonly sliceSeconds: number;
    /** Whole seconds held at first (default: one slice). */
    readonly heldSeconds?: number;
    /** Returns the price of all usage up to now. It must not fall as usage grows. */
    readonly price: (usage: Usage) => bigint;
    /** Usage that the first audio buys in addition to its seconds. */
    readonly once?: Usage;
  }) {
    this.#bytesPerSecond = options.bytesPerSecond;
    this.#sliceBytes = options.bytesPerSecond * options.sliceSeconds;
    this.#price = options.price;
    this.#once = options.once ?? {};
    this.#heldBytes = options.bytesPerSecond * (options.heldSeconds ?? options.sliceSeconds);
  }

  /** Returns the number of bytes that the hold covers, and counts them as used. */
  admit(bytes: number): number {
    const admitted = Math.min(bytes, this.#heldBytes - this.#usedBytes);
    this.#usedBytes += admitted;
    return admitted;
  }

  /** Adds `seconds` to the held audio. */
  grant(seconds: number): void {
    this.#heldBytes += this.#bytesPerSecond * seconds;
  }

  /** True when less than half a slice is left, so that the next slice is to be held. */
  get isLow(): boolean {
    return this.#heldBytes - this.#usedBytes < this.#sliceBytes / 2;
  }

  get isSpent(): boolean {
    return this.#usedBytes === this.#heldBytes;
  }

  /** Seconds of audio that are billed or will be billed. */
  get seconds(): number {
    return this.#heardBytes / this.#bytesPerSecond;
  }

  /** Counts the stream as heard up to `seconds`. The count never falls and never exceeds the admitted audio. */
  hearUpTo(seconds: number): void {
    const bytes = Math.min(Math.round(seconds * this.#bytesPerSecond), this.#usedBytes);
    this.#heardBytes = Math.max(this.#heardBytes, bytes);
  }

  /** True when a whole slice waits for its line in the journal. */
  get sliceIsDue(): boolean {
    return this.#heardBytes - this.#billedBytes >= this.#sliceBytes;
  }

  /**
   * Prices the audio heard since the last call. All bills add up to the price of the whole audio, because rounding happens
   * once.
   */
  takeBill(): { readonly costRaw: bigint; readonly usage: Usage } | undefined {
    if (this.#heardBytes === this.#billedBytes) return undefined;
    const before = this.#secondsAt(this.#billedBytes);
    const after = this.#secondsAt(this.#heardBytes);
    this.#billedBytes = this.#heardBytes;
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

  /** Returns the seconds of audio in `bytes`, rounded to the millisecond, as prices are. */
  #secondsAt(bytes: number): number {
    return Math.round((bytes / this.#bytesPerSecond) * 1_000) / 1_000;
  }
}
