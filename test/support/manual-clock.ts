import type { Clock, TimerHandle } from '../../src/kernel/clock.ts';

type Timer = { readonly callback: () => void; readonly dueMs: number; readonly order: number };

/** A clock that stands still until `advance` is called; timers fire in due order, then in arming order. */
export class ManualClock implements Clock {
  #nowMs: number;
  #order = 0;
  readonly #timers = new Set<Timer>();

  constructor(startMs = Date.UTC(2026, 0, 1)) {
    this.#nowMs = startMs;
  }

  now(): number {
    return this.#nowMs;
  }

  monotonicMs(): number {
    return this.#nowMs;
  }

  setTimeout(callback: () => void, delayMs: number): TimerHandle {
    const timer = { callback, dueMs: this.#nowMs + Math.max(0, delayMs), order: this.#order++ };
    this.#timers.add(timer);
    return timer;
  }

  clearTimeout(handle: TimerHandle): void {
    this.#timers.delete(handle as Timer);
  }

  /** Moves the time forward by `ms` and fires the timers that fall due, each at its own instant. */
  advance(ms: number): void {
    const end = this.#nowMs + ms;
    for (let next = this.#nextDue(end); next !== undefined; next = this.#nextDue(end)) {
      this.#timers.delete(next);
      this.#nowMs = Math.max(this.#nowMs, next.dueMs);
      next.callback();
    }
    this.#nowMs = end;
  }

  #nextDue(end: number): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of this.#timers) {
      if (timer.dueMs > end) continue;
      const sooner =
        next === undefined ||
        timer.dueMs < next.dueMs ||
        (timer.dueMs === next.dueMs && timer.order < next.order);
      if (sooner) next = timer;
    }
    return next;
  }
}
