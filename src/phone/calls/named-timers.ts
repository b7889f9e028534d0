import type { Clock, TimerHandle } from '../../kernel/clock.ts';

/** Timers by name. Setting a timer replaces the timer with the same name. */
export class NamedTimers {
  readonly #clock: Clock;
  readonly #timers = new Map<string, TimerHandle>();
  #isClosed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  after(name: string, ms: number, work: () => void): void {
    this.cancel(name);
    if (this.#isClosed) return;
    const timer = this.#clock.setTimeout(() => {
      this.#timers.delete(name);
      work();
    }, ms);
    this.#timers.set(name, timer);
  }

  repeat(name: string, ms: number, work: () => void): void {
    this.after(name, ms, () => {
      work();
      this.repeat(name, ms, work);
    });
  }

  cancel(name: string): void {
    const timer = this.#timers.get(name);
    if (timer !== undefined) this.#clock.clearTimeout(timer);
    this.#timers.delete(name);
  }

  /** Cancels all timers, and refuses new timers. */
  close(): void {
    this.#isClosed = true;
    for (const name of [...this.#timers.keys()]) this.cancel(name);
  }
}
