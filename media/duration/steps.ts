import { turnForLongWork } from '../../src/kernel/long-work.ts';

/** Number of steps, a few milliseconds of work, between two turns of the event loop. */
const PER_TURN = 4_096;
/**
 * Upper bound of the steps through one file. A file of 25 MB of real audio has fewer than a million; two days of 20 ms frames
 * would be nine million.
 */
const MOST = 2_000_000;

/** Counts the steps of reading a file. A long file yields to the event loop between steps. */
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
