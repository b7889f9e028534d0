import type { StopSignal } from './stop-signal.ts';

export type TimerHandle = object;

/** Source of time, passed as an argument so that tests and the simulation control it. XState accepts it as its clock. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Milliseconds since an unspecified start; never decreases. */
  monotonicMs(): number;
  setTimeout(callback: () => void, delayMs: number): TimerHandle;
  clearTimeout(handle: TimerHandle): void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  setTimeout: (callback, delayMs) => setTimeout(callback, delayMs),
  clearTimeout: (handle) => clearTimeout(handle as NodeJS.Timeout),
};

/** Runs a callback after all callbacks that are ready now. */
export const soon = (callback: () => void): void => {
  setImmediate(callback);
};

export const nowSeconds = (clock: Clock): number => Math.floor(clock.now() / 1_000);

export const isoTime = (ms: number): string => new Date(ms).toISOString();

/**
 * Resolves with the answer, or after `ms` with the result of `late`; rejects when `late` throws. Does not stop the work behind
 * `answer`.
 */
export function within<T, L>(
  clock: Clock,
  ms: number,
  answer: Promise<T>,
  late: () => L,
): Promise<T | L> {
  return new Promise((resolve, reject) => {
    const overdue = clock.setTimeout(() => {
      try {
        resolve(late());
      } catch (error) {
        reject(error);
      }
    }, ms);
    answer.then(resolve, reject).finally(() => clock.clearTimeout(overdue));
  });
}

/** Resolves after `delayMs`, or earlier and without an error when `signal` fires. The timer does not keep the process alive. */
export function sleep(clock: Clock, delayMs: number, signal?: StopSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const handle = clock.setTimeout(done, delayMs);
    function done() {
      clock.clearTimeout(handle);
      signal?.removeEventListener('abort', done);
      resolve();
    }
    signal?.addEventListener('abort', done, { once: true });
  });
}
