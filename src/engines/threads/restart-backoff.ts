import type { Clock } from '../../kernel/clock.ts';
import { ENGINE_LIMITS } from '../limits.ts';

/** Backoff of a worker that crashes again and again. */
export interface RestartBackoff {
  /** Counts a crash. Returns the number of crashes in a row. */
  crashed(): number;
  /** Resets the count of crashes after the worker has answered. */
  answered(): void;
  /** Returns the milliseconds until the worker may be started again. */
  remainingMs(): number;
}

const { restartFirstMs, restartMaxMs } = ENGINE_LIMITS.worker;

/**
 * Creates the backoff. The first crash costs no wait, because one bad input must not silence the next caller; later waits
 * double.
 */
export function createRestartBackoff(clock: Clock): RestartBackoff {
  let crashes = 0;
  let untilMs = 0;
  return {
    crashed() {
      const restMs = crashes === 0 ? 0 : restartFirstMs * 2 ** Math.min(crashes - 1, 16);
      untilMs = clock.monotonicMs() + Math.min(restMs, restartMaxMs);
      return ++crashes;
    },
    answered() {
      crashes = 0;
    },
    remainingMs: () => Math.max(0, untilMs - clock.monotonicMs()),
  };
}
