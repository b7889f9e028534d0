/** The newest sound of an utterance, up to a number of samples. */
export class KeptSound {
  readonly #most: number;
  #pieces: Int16Array[] = [];
  #samples = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get isEmpty(): boolean {
    return this.#samples === 0;
  }

  /** Copies the samples, and forgets the oldest pieces beyond the bound. */
  push(pcm: Int16Array): void {
    this.#pieces.push(pcm.slice());
    this.#samples += pcm.length;
    while (this.#samples > this.#most && this.#pieces.length > 1) {
      this.#samples -= this.#pieces.shift()?.length ?? 0;
    }
  }

  replay(take: (pcm: Int16Array) => void): void {
    for (const piece of [...this.#pieces]) take(piece);
  }

  clear(): void {
    this.#pieces = [];
    this.#samples = 0;
  }
}
