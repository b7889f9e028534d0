/**
 * Detects a caller who is silent after an answer. It measures time in received audio: on a line that sends none, no time
 * passes.
 */
export class IdleWatch {
  #fromMs: number | undefined;
  /** Start of the wait that the caller's speech suspended, in milliseconds of received audio. */
  #restedFromMs: number | undefined;

  /** Starts the wait at `atMs` of received audio, when the answer has been played to its end. */
  begin(atMs: number): void {
    this.#fromMs = atMs;
    this.#restedFromMs = undefined;
  }

  /** Ends the wait: an answer follows. */
  end(): void {
    this.#fromMs = undefined;
    this.#restedFromMs = undefined;
  }

  /** Suspends the wait while the caller speaks. `goOn` or `spoken` decides later whether the wait is over. */
  rest(): void {
    this.#restedFromMs = this.#fromMs ?? this.#restedFromMs;
    this.#fromMs = undefined;
  }

  /**
   * Resumes a suspended wait after speech that needs no answer. The wait starts anew, at `nowMs` or when the answer has been
   * played.
   */
  goOn(nowMs: number): void {
    if (this.#restedFromMs !== undefined) this.begin(Math.max(this.#restedFromMs, nowMs));
  }

  /** Drops a suspended wait after speech that needs an answer. */
  spoken(): void {
    this.#restedFromMs = undefined;
  }

  /** True while the session waits for the caller to speak. */
  get isOn(): boolean {
    return this.#fromMs !== undefined;
  }

  /** Returns the start of the silence, once, when the caller has been silent for `timeoutMs`. `nowMs` is the received audio. */
  lapsed(nowMs: number, timeoutMs: number): { readonly sinceMs: number } | undefined {
    const sinceMs = this.#fromMs;
    if (sinceMs === undefined || nowMs - sinceMs < timeoutMs) return undefined;
    this.#fromMs = undefined;
    return { sinceMs };
  }
}
