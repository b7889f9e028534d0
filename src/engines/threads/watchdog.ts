import type { Clock, TimerHandle } from '../../kernel/clock.ts';

/** Detects that a peer whose answer is awaited has gone silent. */
export interface Watchdog {
  /** Starts the timer if it is not running. */
  watch(): void;
  /** Records a sign of life of the peer. */
  heard(): void;
  stop(): void;
}

/**
 * Calls `silent` when `heard` was not called for `silenceMs` while `isWaiting` returns true. One timer checks at intervals, so
 * that `heard` sets no timer.
 */
export function createWatchdog(deps: {
  readonly clock: Clock;
  readonly silenceMs: number;
  readonly isWaiting: () => boolean;
  readonly silent: () => void;
}): Watchdog {
  const { clock, silenceMs } = deps;
  let heardMs = 0;
  let timer: TimerHandle | undefined;

  function arm(delayMs: number) {
    timer = clock.setTimeout(look, delayMs);
  }

  function look() {
    timer = undefined;
    if (!deps.isWaiting()) return;
    const leftMs = heardMs + silenceMs - clock.monotonicMs();
    if (leftMs > 0) arm(leftMs);
    else deps.silent();
  }

  return {
    watch() {
      if (timer !== undefined) return;
      heardMs = clock.monotonicMs();
      arm(silenceMs);
    },
    heard() {
      heardMs = clock.monotonicMs();
    },
    stop() {
      if (timer !== undefined) clock.clearTimeout(timer);
      timer = undefined;
    },
  };
}
