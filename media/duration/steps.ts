import { turnForLongWork } from '../../src/kernel/long-work.ts';

/** Some milliseconds of work. */
const PER_TURN = 4_096;
/** Two days of frames of 20 ms are nine million; a file of 25 MB of real sound has less than one. */
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
