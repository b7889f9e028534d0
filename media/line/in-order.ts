/**
 * Puts the sound of a telephone line into the order of its time. Chunks may come out of order, twice or not at all; what
 * comes is handed on in order and without gaps. Bytes are of a coding of constant size, G.711 or PCM.
 */

export type InOrderCounters = {
  readonly late: number;
  readonly gaps: number;
};

/** Chunks that may wait for an earlier one. */
const MOST_WAITING = 8;
/** A longer gap is a jump of the stream's clock, and no lost sound. */
const LONGEST_GAP_MS = 1_000;
/** Times of carriers are whole milliseconds. */
const TOLERANCE_MS = 1.5;

export class InOrder {
  readonly #bytesPerMs: number;
  readonly #silence: number;
  readonly #take: (bytes: Uint8Array) => void;
  /** Copies, by their time. */
  readonly #waiting = new Map<number, Uint8Array>();
  readonly #counters = { late: 0, gaps: 0 };
  /** In an object: a fraction in a private field of its own is allocated anew with every write (docs/decisions/0076). */
  readonly #state: { nextMs: number | undefined } = { nextMs: undefined };

  constructor(options: {
    readonly bytesPerMs: number;
    /** The byte of silence. */
    readonly silence: number;
    /** Takes sound in order; it does not keep the array. */
    readonly take: (bytes: Uint8Array) => void;
  }) {
    this.#bytesPerMs = options.bytesPerMs;
    this.#silence = options.silence;
    this.#take = options.take;
  }

  get counters(): InOrderCounters {
    return this.#counters;
  }

  /** Takes a chunk that begins at `atMs` of the stream. The array may be reused afterwards. */
  push(atMs: number, bytes: Uint8Array): void {
    const nextMs = this.#state.nextMs ?? atMs;
    if (Math.abs(atMs - nextMs) <= TOLERANCE_MS) {
      this.#pass(nextMs, bytes);
      if (this.#waiting.size > 0) this.#drain();
    } else if (atMs < nextMs) {
      if (nextMs - atMs > LONGEST_GAP_MS) this.#restart(atMs, bytes);
      else this.#counters.late++;
    } else if (atMs - nextMs > LONGEST_GAP_MS) {
      this.#restart(atMs, bytes);
    } else {
      this.#waiting.set(atMs, bytes.slice());
      if (this.#waiting.size > MOST_WAITING) this.#skip();
    }
  }

  #pass(atMs: number, bytes: Uint8Array): void {
    this.#take(bytes);
    this.#state.nextMs = atMs + bytes.length / this.#bytesPerMs;
  }

  #drain(): void {
    for (let at = this.#earliest(); at !== undefined; at = this.#earliest()) {
      const nextMs = this.#state.nextMs ?? at;
      if (at > nextMs + TOLERANCE_MS) return;
      const bytes = this.#waiting.get(at) as Uint8Array;
      this.#waiting.delete(at);
      if (at < nextMs - TOLERANCE_MS) this.#counters.late++;
      else this.#pass(nextMs, bytes);
    }
  }

  /** The missing chunk does not come any more: silence takes its place. */
  #skip(): void {
    const at = this.#earliest();
    if (at === undefined || this.#state.nextMs === undefined) return;
    this.#counters.gaps++;
    const missing = Math.round((at - this.#state.nextMs) * this.#bytesPerMs);
    this.#take(new Uint8Array(missing).fill(this.#silence));
    this.#state.nextMs = at;
    this.#drain();
  }

  #restart(atMs: number, bytes: Uint8Array): void {
    this.#waiting.clear();
    this.#pass(atMs, bytes);
  }

  #earliest(): number | undefined {
    let earliest: number | undefined;
    for (const at of this.#waiting.keys()) {
      if (earliest === undefined || at < earliest) earliest = at;
    }
    return earliest;
  }
}
