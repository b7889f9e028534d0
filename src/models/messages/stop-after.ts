import type { Clock } from '../../kernel/clock.ts';
import type { StopSignal } from '../../kernel/stop-signal.ts';

/** Returns a signal that fires with `other` or after `ms`. `over` clears the timer and the listener. */
export function stopAfter(
  clock: Pick<Clock, 'setTimeout' | 'clearTimeout'>,
  ms: number,
  other: StopSignal,
): { readonly signal: StopSignal; over(): void } {
  const controller = new AbortController();
  const onOther = () => controller.abort(other.reason);
  const timer = clock.setTimeout(() => controller.abort(new Error('it took too long')), ms);
  if (other.aborted) onOther();
  else other.addEventListener('abort', onOther, { once: true });
  return {
    signal: controller.signal,
    over() {
      clock.clearTimeout(timer);
      other.removeEventListener('abort', onOther);
    },
  };
}
