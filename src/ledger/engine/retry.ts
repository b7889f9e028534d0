import { type Clock, sleep, within } from '../../kernel/clock.ts';
import { LIMITS } from '../../kernel/limits.ts';
import { answerWithin, isTransient } from '../../platform/postgres/transient.ts';

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
    for (let waitMs: number = LIMITS.ledgerRetryMs.min; ; waitMs *= 2) {
      try {
        return await answerWithin(clock, LIMITS.ledgerCallMs, call());
      } catch (error) {
        if (!isTransient(error) || until()) throw error;
        await sleep(clock, Math.min(waitMs, LIMITS.ledgerRetryMs.max));
        if (before !== undefined) await within(clock, LIMITS.leaseAnswerMs, before(), () => {});
        if (until()) throw error;
      }
    }
  };
}

/** Sends a read again until the database answers. */
export type RetryingRead = <T>(call: () => Promise<T>) => Promise<T>;

/** Creates a read that is repeated after a lost connection, for as long as a caller would wait (`LIMITS.ledgerGiveUpMs`). */
export function createRetryingRead(
  clock: Clock,
  stopped: () => boolean = () => false,
): RetryingRead {
  const retry = createRetry(clock);
  return (call) => {
    const end = clock.monotonicMs() + LIMITS.ledgerGiveUpMs;
    return retry(call, { until: () => stopped() || clock.monotonicMs() >= end });
  };
}
