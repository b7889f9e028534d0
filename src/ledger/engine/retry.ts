import { type Clock, sleep, within } from '../../kernel/clock.ts';
import { answerWithin, isTransient } from '../../platform/postgres/transient.ts';
import { LEDGER_LIMITS } from './limits.ts';

type RetryOptions = {
  /** Returns true when the call must not be sent again. The last error is then thrown. */
  readonly until: () => boolean;
  /**
   * Called before the call is sent again after a failure with an unknown outcome. It is awaited for a bounded time, so that a
   * database that hangs does not keep the call from being sent.
   */
  readonly before?: () => Promise<void>;
};

/** Sends a call until it is answered. Rejects at once when sending it again cannot help. */
export type Retry = <T>(call: () => Promise<T>, options: RetryOptions) => Promise<T>;

/** Creates a retry whose waits double after each failure, up to a second. A call without an answer is sent again, too. */
export function createRetry(clock: Clock): Retry {
  return async (call, { until, before }) => {
    for (let waitMs: number = LEDGER_LIMITS.calls.retryMs.min; ; waitMs *= 2) {
      try {
        return await answerWithin(clock, LEDGER_LIMITS.calls.timeoutMs, call());
      } catch (error) {
        if (!isTransient(error) || until()) throw error;
        await sleep(clock, Math.min(waitMs, LEDGER_LIMITS.calls.retryMs.max));
        if (before !== undefined)
          await within(clock, LEDGER_LIMITS.lease.answerMs, before(), () => {});
        if (until()) throw error;
      }
    }
  };
}

/** Sends a read again until the database answers. */
export type RetryingRead = <T>(call: () => Promise<T>) => Promise<T>;

/** Creates a read that is repeated after a lost connection, for as long as a caller would wait (`LEDGER_LIMITS.calls.giveUpMs`). */
export function createRetryingRead(
  clock: Clock,
  stopped: () => boolean = () => false,
): RetryingRead {
  const retry = createRetry(clock);
  return (call) => {
    const end = clock.monotonicMs() + LEDGER_LIMITS.calls.giveUpMs;
    return retry(call, { until: () => stopped() || clock.monotonicMs() >= end });
  };
}
