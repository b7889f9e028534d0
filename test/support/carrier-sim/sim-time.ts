/** The carrier's clock: real time, or so many times faster. Everything that waits ends with it. */
export class SimTime implements Disposable {
  readonly #speed: number;
  readonly #start = performance.now();
  readonly #timers = new Set<NodeJS.Timeout>();

  constructor(speed: number) {
    this.#speed = speed;
  }

  /** Milliseconds since the carrier was started. */
  now(): number {
    return (performance.now() - this.#start) * this.#speed;
  }

  /** Runs it later, unless it is cancelled by what this returns. */
  after(ms: number, run: () => void): () => void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      run();
    }, ms / this.#speed);
    this.#timers.add(timer);
    return () => {
      clearTimeout(timer);
      this.#timers.delete(timer);
    };
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.after(ms, resolve));
  }

  [Symbol.dispose](): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }
}
