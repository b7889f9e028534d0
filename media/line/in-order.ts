/**
 * Puts the audio of a telephone line into the order of its time. Chunks may arrive out of order, twice or not at all; the
 * listener gets them in order and without gaps. Bytes are of a coding of constant size, G.711 or PCM.
 */

export type InOrderCounters = {
  readonly late: number;
  readonly gaps: number;
};

/** Number of chunks that may wait for an earlier chunk. */
const MOST_WAITING = 8;
/** Longest gap in milliseconds that counts as lost sound. A longer gap is a jump of the stream's clock. */
const LONGEST_GAP_MS = 1_000;
/** Difference in milliseconds below which two times are equal. Carriers round times to whole milliseconds. */
const TOLERANCE_MS = 1.5;

/** Receives sound in order. It must not keep the array. */
export type InOrderListener = { inOrder(bytes: Uint8Array): void };

export class InOrder {
  readonly #bytesPerMs: number;
  readonly #silence: number;
  readonly #listener: InOrderListener;
  /** Time at which the next sound is expected to begin; undefined before the first sound. */
  #nextMs: number | undefined;
  /** Copies of waiting chunks, by their time. Undefined when no chunk waits, which is nearly always. */
  #waiting: Map<number, Uint8Array> | undefined;
  readonly #counters = { late: 0, gaps: 0 };

  constructor(options: {
    readonly bytesPerMs: number;
    /** Byte that encodes silence. */
    readonly silence: number;
    readonly listener: InOrderListener;
  }) {
    this.#bytesPerMs = options.bytesPerMs;
    this.#silence = options.silence;
    this.#listener = options.listener;
  }

  get counters(): InOrderCounters {
    return this.#counters;
  }

  /** Accepts a chunk that begins at `atMs` of the stream. The array may be reused after the call. */
  push(atMs: number, bytes: Uint8Array): void {
    const nextMs = this.#nextMs ?? atMs;
    if (Math.abs(atMs - nextMs) <= TOLERANCE_MS) {
      this.#pass(nextMs, bytes);
      if (this.#waiting !== undefined) this.#drain(this.#waiting);
    } else if (atMs < nextMs) {
      if (nextMs - atMs > LONGEST_GAP_MS) this.#restart(atMs, bytes);
      else this.#counters.late++;
    } else if (atMs - nextMs > LONGEST_GAP_MS) {
      this.#restart(atMs, bytes);
    } else {
      this.#waiting ??= new Map();
      this.#waiting.set(atMs, bytes.slice());
      if (this.#waiting.size > MOST_WAITING) this.#skip(this.#waiting);
    }
  }

  #pass(atMs: number, bytes: Uint8Array): void {
    this.#listener.inOrder(bytes);
    this.#nextMs = atMs + bytes.length / this.#bytesPerMs;
  }

  #drain(waiting: Map<number, Uint8Array>): void {
    for (let at = earliest(waiting); at !== undefined; at = earliest(waiting)) {
      const nextMs = this.#nextMs ?? at;
      if (at > nextMs + TOLERANCE_MS) return;
      const bytes = waiting.get(at) as Uint8Array;
      waiting.delete(at);
      if (at < nextMs - TOLERANCE_MS) this.#counters.late++;
      else this.#pass(nextMs, bytes);
    }
    this.#waiting = undefined;
  }

  /** Replaces a missing chunk with silence and passes on the waiting chunks. */
  #skip(waiting: Map<number, Uint8Array>): void {
    const at = earliest(waiting);
    if (at === undefined || this.#nextMs === undefined) return;
    this.#counters.gaps++;
    const missing = Math.round((at - this.#nextMs) * this.#bytesPerMs);
    this.#listener.inOrder(new Uint8Array(missing).fill(this.#silence));
    this.#nextMs = at;
    this.#drain(waiting);
  }

  #restart(atMs: number, bytes: Uint8Array): void {
    this.#waiting = undefined;
    this.#pass(atMs, bytes);
  }
}

function earliest(waiting: Map<number, Uint8Array>): number | undefined {
  let first: number | undefined;
  for (const at of waiting.keys()) {
    if (first === undefined || at < first) first = at;
  }
  return first;
}
