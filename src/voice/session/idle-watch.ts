/** Notices a caller who is silent after an answer. Time is the audio received: a line that sends none never lapses. */
export class IdleWatch {
  #fromMs: number | undefined;

  /** Starts to wait at `atMs` of received audio, when the answer has been played. */
  begin(atMs: number): void {
    this.#fromMs = atMs;
  }

  /** The caller speaks again. */
  end(): void {
    this.#fromMs = undefined;
  }

  /** Whether the session waits for the caller. */
  get isOn(): boolean {
    return this.#fromMs !== undefined;
  }

  /** Returns a result once, when `nowMs` of audio have arrived and the caller has been silent for `timeoutMs`. */
  lapsed(nowMs: number, timeoutMs: number): { readonly sinceMs: number } | undefined {
    const sinceMs = this.#fromMs;
    if (sinceMs === undefined || nowMs - sinceMs < timeoutMs) return undefined;
    this.#fromMs = undefined;
    return { sinceMs };
  }
}
