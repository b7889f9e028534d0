import type { TurnBounds, TurnSign } from '../../engines/engine.ts';

/**
 * Silence that ends the utterance in progress. Its words decide it, or the recogniser where that finds the ends of turns: then
 * it is the longest one until the end is found, and the shortest one from then on.
 */
export class UtteranceSilence {
  readonly #leastMs: number;
  readonly #after: ((words: string) => number) | undefined;
  readonly #turns: TurnBounds | undefined;
  ms = 0;

  constructor(options: {
    /** Silence that ends an utterance without words. */
    readonly leastMs: number;
    readonly after: ((words: string) => number) | undefined;
    readonly turns: TurnBounds | undefined;
  }) {
    this.#leastMs = options.leastMs;
    this.#after = options.after;
    this.#turns = options.turns;
  }

  /**
   * Starts the silence bounds of a new utterance. `takesTurns` is true when the recogniser detects the ends of turns, and
   * undefined while no recogniser is open.
   */
  begin(takesTurns: boolean | undefined): void {
    this.ms = this.#boundsOf(takesTurns)?.mostMs ?? this.#leastMs;
  }

  heard(words: () => string, takesTurns: boolean | undefined): void {
    const bounds = this.#boundsOf(takesTurns);
    if (bounds !== undefined) this.ms = bounds.mostMs;
    else if (this.#after !== undefined) this.ms = this.#after(words());
  }

  /** Applies a sign of the recogniser and returns true; returns false when the recogniser does not decide the ends of turns. */
  told(sign: TurnSign): boolean {
    if (this.#turns === undefined) return false;
    this.ms = sign === 'over' ? this.#turns.leastMs : this.#turns.mostMs;
    return true;
  }

  #boundsOf(takesTurns: boolean | undefined): TurnBounds | undefined {
    return takesTurns === false ? undefined : this.#turns;
  }
}
