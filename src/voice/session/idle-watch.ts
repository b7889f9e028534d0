/**
 * Notices a caller who says nothing after an answer, on the clock of the sound that comes in: a line
 * that sends none is not waited for.
 */
export class IdleWatch {
  #fromMs: number | undefined;

  /** The answer will have been heard when so much sound has come in. */
  begin(atMs: number): void {
    this.#fromMs = atMs;
  }

  /** The caller speaks again. */
  end(): void {
    this.#fromMs = undefined;
  }

  /** Whether anybody is waited for. */
  get isOn(): boolean {
    return this.#fromMs !== undefined;
  }

  /** Tells once, when `nowMs` of sound have come in and the caller has been silent for `timeoutMs`. */
  lapsed(nowMs: number, timeoutMs: number): { readonly sinceMs: number } | undefined {
    const sinceMs = this.#fromMs;
    if (sinceMs === undefined || nowMs - sinceMs < timeoutMs) return undefined;
    this.#fromMs = undefined;
    return { sinceMs };
  }
}
