import type { Clock } from '../../../kernel/clock.ts';
import type { StopSignal } from '../../../kernel/stop-signal.ts';

/** Senders that wait for room on a line: each for its time, until its signal fires, or until all are woken. */
export class LineWaits {
  readonly #clock: Clock;
  readonly #waiting = new Set<() => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  sleep(ms: number, signal: StopSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        this.#clock.clearTimeout(timer);
        signal.removeEventListener('abort', wake);
        this.#waiting.delete(wake);
        resolve();
      };
      const timer = this.#clock.setTimeout(wake, Math.max(1, ms));
      signal.addEventListener('abort', wake, { once: true });
      this.#waiting.add(wake);
    });
  }

  /** Lets all of them look again. */
  wake(): void {
    for (const wake of [...this.#waiting]) wake();
  }
}
