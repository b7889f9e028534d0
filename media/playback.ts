/** Milliseconds of delay that do not count as a gap: they are not audible, and timers are no more exact. */
const TOLERANCE_MS = 5;

/**
 * Counts how often, and how long, a client runs out of sound in the middle of an answer, if it plays each answer as it
 * comes, in real time and without a buffer of its own. Nothing is allocated per piece of sound.
 */
export class Playback {
  #playedUntilMs: number | undefined;
  #underruns = 0;
  #dryMs = 0;

  /** Restarts the timing when an answer begins or is cut off, because the next audio was not due before. */
  restart(): void {
    this.#playedUntilMs = undefined;
  }

  /** Records that `audioMs` milliseconds of sound were sent at `atMs`. Returns true when the client had run out of sound. */
  sent(atMs: number, audioMs: number): boolean {
    const dueMs = this.#playedUntilMs ?? atMs;
    const lateMs = atMs - dueMs;
    this.#playedUntilMs = Math.max(dueMs, atMs) + audioMs;
    if (lateMs <= TOLERANCE_MS) return false;
    this.#underruns++;
    this.#dryMs += lateMs;
    return true;
  }

  get underruns(): number {
    return this.#underruns;
  }

  get dryMs(): number {
    return this.#dryMs;
  }
}
