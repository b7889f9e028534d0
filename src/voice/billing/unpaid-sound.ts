/** Counts the milliseconds of ended utterances that are not billed yet. */
export class UnpaidSound {
  #unbilledMs = 0;
  /** The part of `#unbilledMs` in utterances that wait for a transcript. Their price is not known yet. */
  #pendingMs = 0;
  /** Milliseconds that are being billed. They count as unbilled until the hold is topped up. */
  #billingMs = 0;

  get ms(): number {
    return this.#unbilledMs + this.#billingMs;
  }

  /** Adds the audio of an utterance that has ended, `ms` long. */
  add(ms: number): void {
    this.#unbilledMs += ms;
    this.#pendingMs += ms;
  }

  /** Records that `ms` of audio were transcribed or lost. The session does not pay for lost audio. */
  transcribed(ms: number, isLost: boolean): void {
    this.#pendingMs = Math.max(0, this.#pendingMs - ms);
    if (isLost) this.#unbilledMs = Math.max(0, this.#unbilledMs - ms);
  }

  /** Takes the transcribed audio, in milliseconds, to be billed. Until `billed` is called, the turn's reserve covers it. */
  take(): number {
    const takenMs = this.#unbilledMs - this.#pendingMs;
    this.#unbilledMs = this.#pendingMs;
    this.#billingMs += takenMs;
    return takenMs;
  }

  /** Records that `ms` of the taken audio are paid. The turn's reserve is whole again. */
  billed(ms: number): void {
    this.#billingMs -= ms;
  }

  /** Bills the audio that is still being transcribed, without waiting for its transcript. */
  waitNoMore(): void {
    this.#pendingMs = 0;
  }
}
