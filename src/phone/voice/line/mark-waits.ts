import type { Clock, TimerHandle } from '../../../kernel/clock.ts';

/**
 * Callbacks that wait for the echo of a mark on one telephone line, at most two: the first also runs without the echo, after a
 * time; the second runs only with the echo.
 */
export class MarkWaits {
  readonly #clock: Clock;
  /** Wait that `atLatest` began. Undefined when none is pending. */
  #sooner: { readonly done: () => void; readonly withinMs: number } | undefined;
  /** Mark and timer that end the wait of `atLatest`. Undefined while `arm` has set no mark. */
  #armed: { readonly mark: string; readonly timer: TimerHandle } | undefined;
  #only: { readonly done: () => void; readonly mark: string } | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Runs `done` at the echo of the mark that `arm` names, at the latest `withinMs` after `arm`, or when the wait is cut short.
   * Replaces an earlier wait.
   */
  atLatest(done: () => void, withinMs: number): void {
    this.forget();
    this.#sooner = { done, withinMs };
  }

  /** True while a wait that `atLatest` began is under way. */
  get isWaiting(): boolean {
    return this.#sooner !== undefined;
  }

  /** Sets the mark whose echo ends the wait of `atLatest`, replaces an earlier mark, and starts the timer anew. */
  arm(mark: string): void {
    this.disarm();
    if (this.#sooner === undefined) return;
    const timer = this.#clock.setTimeout(() => this.cutShort(), this.#sooner.withinMs);
    this.#armed = { mark, timer };
  }

  /** Removes the mark and the timer of the wait that `atLatest` began, which then lasts until `arm` is called again. */
  disarm(): void {
    if (this.#armed !== undefined) this.#clock.clearTimeout(this.#armed.timer);
    this.#armed = undefined;
  }

  /** Runs `done` once `mark` is echoed, unless the sound before it is cleared. Replaces an earlier wait. */
  onlyAt(mark: string, done: () => void): void {
    this.#only = { mark, done };
  }

  /** Handles the carrier's echo of a mark. `isPlayed`: the sound before the mark was played, and not cleared. */
  echoed(mark: string, isPlayed: boolean): void {
    const only = this.#only;
    if (isPlayed && only?.mark === mark) {
      this.#only = undefined;
      only.done();
    }
    if (this.#armed?.mark === mark) this.cutShort();
  }

  /** Drops the wait that needs an echo, because the sound before all marks was cleared, or the stream is gone. */
  cleared(): void {
    this.#only = undefined;
  }

  /** Ends the wait that `atLatest` began, and runs its `done` at once. */
  cutShort(): void {
    const sooner = this.#sooner;
    this.forget();
    sooner?.done();
  }

  /** Drops the wait that `atLatest` began, without running its `done`. */
  forget(): void {
    this.disarm();
    this.#sooner = undefined;
  }
}
