import type { Clock, TimerHandle } from '../../kernel/clock.ts';

/**
 * What waits for the echo of a mark of one telephone line: at most one thing that also happens without it, and one that
 * happens only with it.
 */
export class MarkWaits {
  readonly #clock: Clock;
  #sooner: { readonly done: () => void; readonly withinMs: number } | undefined;
  /** What the first of them waits for; undefined: it waits for nothing yet. */
  #armed: { readonly mark: string; readonly timer: TimerHandle } | undefined;
  #only: { readonly done: () => void; readonly mark: string } | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Runs `done` at the mark that `arm` names, `withinMs` after that, or when the wait is cut short. Replaces an earlier wait. */
  atLatest(done: () => void, withinMs: number): void {
    this.forget();
    this.#sooner = { done, withinMs };
  }

  /** Whether something waits at the latest. */
  get isWaiting(): boolean {
    return this.#sooner !== undefined;
  }

  /** What waits at the latest waits for this mark from now on. */
  arm(mark: string): void {
    this.disarm();
    if (this.#sooner === undefined) return;
    const timer = this.#clock.setTimeout(() => this.cutShort(), this.#sooner.withinMs);
    this.#armed = { mark, timer };
  }

  /** What waits at the latest waits on, for no mark and no time, until it is armed again. */
  disarm(): void {
    if (this.#armed !== undefined) this.#clock.clearTimeout(this.#armed.timer);
    this.#armed = undefined;
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
    if (this.#armed?.mark === mark) this.cutShort();
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
    this.disarm();
    this.#sooner = undefined;
  }
}
