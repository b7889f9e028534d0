import type { Clock, TimerHandle } from '../../kernel/clock.ts';

type Waiting = { readonly mark: string; readonly done: () => void };

/**
 * What waits for the echo of a mark of one telephone line: at most one thing that also happens without it, and one that
 * happens only with it.
 */
export class MarkWaits {
  readonly #clock: Clock;
  #sooner: (Waiting & { readonly timer: TimerHandle }) | undefined;
  #only: Waiting | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Runs `done` once `mark` is echoed, after `withinMs`, or when the wait is cut short. Replaces an earlier wait. */
  atLatest(mark: string, done: () => void, withinMs: number): void {
    this.forget();
    const timer = this.#clock.setTimeout(() => this.cutShort(), withinMs);
    this.#sooner = { mark, done, timer };
  }

  /** Runs `done` once `mark` is echoed, unless the sound before it is cleared. Replaces an earlier wait. */
  onlyAt(mark: string, done: () => void): void {
    this.#only = { mark, done };
  }

  /** The carrier echoed a mark. `isPlayed`: the sound before it was played, and not cleared. */
  echoed(mark: string, isPlayed: boolean): void {
    const only = this.#only;
    if (isPlayed && only?.mark === mark) {
      this.#only = undefined;
      only.done();
    }
    if (this.#sooner?.mark === mark) this.cutShort();
  }

  /** The sound before all marks is cleared, or the stream is gone. */
  cleared(): void {
    this.#only = undefined;
  }

  /** Does now what waits at the latest. */
  cutShort(): void {
    const sooner = this.#sooner;
    this.forget();
    sooner?.done();
  }

  /** Drops what waits at the latest. */
  forget(): void {
    if (this.#sooner !== undefined) this.#clock.clearTimeout(this.#sooner.timer);
    this.#sooner = undefined;
  }
}
