import { ApiError } from '../kernel/api-error.ts';
import { type Clock, sleep } from '../kernel/clock.ts';
import { LIMITS } from '../kernel/limits.ts';

const { speakAdmitEveryMs, speakAdmitMs } = LIMITS.deepgram;

/**
 * Requests admission from a rate limit until it is granted. Throws the limit's 429 when that takes too long or `signal` fires.
 */
export async function admitInTime(
  clock: Clock,
  admit: () => Promise<void> | undefined,
  signal: AbortSignal,
): Promise<void> {
  const untilMs = clock.monotonicMs() + speakAdmitMs;
  for (;;) {
    try {
      await admit();
      return;
    } catch (error) {
      const isLimit = error instanceof ApiError && error.status === 429;
      if (!isLimit || clock.monotonicMs() >= untilMs) throw error;
    }
    await sleep(clock, speakAdmitEveryMs, signal);
    signal.throwIfAborted();
  }
}
