/** The last moments of sound before speech, in one piece of memory: words begin before they are detected. */
export class VoiceLead {
  readonly #ring: Int16Array;
  readonly #frameSamples: number;
  readonly #capacity: number;
  #written = 0;
  #kept = 0;

  constructor(options: { readonly frames: number; readonly frameSamples: number }) {
    this.#capacity = options.frames;
    this.#frameSamples = options.frameSamples;
    this.#ring = new Int16Array(options.frames * options.frameSamples);
  }

  /** Keeps a copy; the oldest frame makes room. */
  push(frame: Int16Array): void {
    if (this.#capacity === 0) return;
    this.#ring.set(frame, (this.#written % this.#capacity) * this.#frameSamples);
    this.#written += 1;
    this.#kept = Math.min(this.#kept + 1, this.#capacity);
  }

  /** How many frames are kept. */
  get frames(): number {
    return this.#kept;
  }

  /** The newest frames, oldest of them first, at most `count`. Everything is forgotten. */
  take(count: number): Int16Array[] {
    const taken = Math.max(0, Math.min(count, this.#kept));
    this.#kept = 0;
    return Array.from({ length: taken }, (_, i) => {
      const at = ((this.#written - taken + i) % this.#capacity) * this.#frameSamples;
      return this.#ring.slice(at, at + this.#frameSamples);
    });
  }
}
