import type { Clock, TimerHandle } from '../../kernel/clock.ts';

/** Notices that something which is waited for has gone silent. */
export interface Watchdog {
  /** Begins to watch, if it does not yet. */
  watch(): void;
  /** Something was heard. */
  heard(): void;
  stop(): void;
}

/**
 * Calls `silent` when nothing was heard for `silenceMs` while `isWaiting`. One timer looks now and
 * then, so that hearing something costs no timer.
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
