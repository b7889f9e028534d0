import type { Clock } from '../../../kernel/clock.ts';
import type { StopSignal } from '../../../kernel/stop-signal.ts';

/**
 * Waits of senders until the line may take more sound. A wait ends after its time, when its signal fires, or when `wake` ends
 * all waits.
 */
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

  /** Ends all waits, so that each sender checks the line again. */
  wake(): void {
    for (const wake of [...this.#waiting]) wake();
  }
}
