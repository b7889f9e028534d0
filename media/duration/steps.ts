import { turnForLongWork } from '../../src/kernel/long-work.ts';

/** Some milliseconds of work. */
const PER_TURN = 4_096;
/**
 * Upper bound of the steps through one file. A file of 25 MB of real audio has fewer than a million; two days of 20 ms frames
 * would be nine million.
 */
const MOST = 2_000_000;

/** Counts the steps of a walk through a file, so that a long one leaves the event loop to others in between. */
export class Steps {
  #done = 0;

  /** True when the file has more parts than any audio file has. */
  get isBeyondAny(): boolean {
    return this.#done > MOST;
  }

  /** Counts a step. Call it at each step and await the returned promise, if any. */
  step(): Promise<unknown> | undefined {
    this.#done++;
    return this.#done % PER_TURN === 0 ? turnForLongWork() : undefined;
  }
}
