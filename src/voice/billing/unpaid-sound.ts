/** What a caller has said that is not billed yet, in milliseconds from the end of each utterance on. */
export class UnpaidSound {
  #unbilledMs = 0;
  /** Of those, what waits for its transcript: its price is not known yet. */
  #untoldMs = 0;
  /** Taken to be billed, while nothing new is held instead. */
  #billingMs = 0;

  get ms(): number {
    return this.#unbilledMs + this.#billingMs;
  }

  /** An utterance of so much has ended. */
  add(ms: number): void {
    this.#unbilledMs += ms;
    this.#untoldMs += ms;
  }

  /** So much was transcribed, or is lost: what no recogniser heard is not charged. */
  told(ms: number, isLost: boolean): void {
    this.#untoldMs = Math.max(0, this.#untoldMs - ms);
    if (isLost) this.#unbilledMs = Math.max(0, this.#unbilledMs - ms);
  }

  /** What was transcribed and not billed; it is billed now. Until it is `billed` the reserve of the turn covers it. */
  take(): number {
    const takenMs = this.#unbilledMs - this.#untoldMs;
    this.#unbilledMs = this.#untoldMs;
    this.#billingMs += takenMs;
    return takenMs;
  }

  /** So much of what was taken is paid, and the reserve is whole again. */
  billed(ms: number): void {
    this.#billingMs -= ms;
  }

  /** What is still being transcribed is billed as it is, without waiting for it. */
  waitNoMore(): void {
    this.#untoldMs = 0;
  }
}
