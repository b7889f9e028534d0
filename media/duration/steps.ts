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

  /** True: the file has more parts than any sound has. */
  get isBeyondAny(): boolean {
    return this.#done > MOST;
  }

  /** To be called at each step, and what it answers to be awaited where it is anything. */
  step(): Promise<unknown> | undefined {
    this.#done++;
    return this.#done % PER_TURN === 0 ? turnForLongWork() : undefined;
  }
}
