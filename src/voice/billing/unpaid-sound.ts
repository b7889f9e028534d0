/** Milliseconds of ended utterances that are not billed yet. */
export class UnpaidSound {
  #unbilledMs = 0;
  /** The part of `#unbilledMs` in utterances that wait for a transcript. Their price is not known yet. */
  #pendingMs = 0;
  /** Being billed, until the hold is topped up. */
  #billingMs = 0;

  get ms(): number {
    return this.#unbilledMs + this.#billingMs;
  }

  /** An utterance of `ms` ended. */
  add(ms: number): void {
    this.#unbilledMs += ms;
    this.#pendingMs += ms;
  }

  /** `ms` were transcribed, or lost: the session does not pay for what no recogniser heard. */
  transcribed(ms: number, isLost: boolean): void {
    this.#pendingMs = Math.max(0, this.#pendingMs - ms);
    if (isLost) this.#unbilledMs = Math.max(0, this.#unbilledMs - ms);
  }

  /** Takes what was transcribed, to be billed. Until it is `billed`, the reserve of the turn covers it. */
  take(): number {
    const takenMs = this.#unbilledMs - this.#pendingMs;
    this.#unbilledMs = this.#pendingMs;
    this.#billingMs += takenMs;
    return takenMs;
  }

  /** `ms` of what was taken are paid, and the reserve is whole again. */
  billed(ms: number): void {
    this.#billingMs -= ms;
  }

  /** Bills what is still being transcribed, without waiting for the transcript. */
  waitNoMore(): void {
    this.#pendingMs = 0;
  }
}
