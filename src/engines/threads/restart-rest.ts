import type { Clock } from '../../kernel/clock.ts';
import { LIMITS } from '../../kernel/limits.ts';

/** Backoff of a worker that crashes again and again. */
export interface RestartRest {
  /** Counts a crash. Returns how many there were in a row. */
  crashed(): number;
  /** It answered: what went before is forgiven. */
  answered(): void;
  /** Returns the milliseconds until the worker may be started again. */
  remainingMs(): number;
}

const { restartFirstMs, restartMaxMs } = LIMITS.engines;

/** The first crash costs no rest, because one bad input must not silence the next caller; then it doubles. */
export function createRestartRest(clock: Clock): RestartRest {
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
