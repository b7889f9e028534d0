import { type Clock, soon } from '../../kernel/clock.ts';
import { LIMITS } from '../../kernel/limits.ts';

/**
 * Spreads the messages of all sockets over turns of the event loop. The library hands on all that has come in one turn:
 * what five sockets send at once would be handled at once, however long that takes.
 */
export class MessageLine {
  readonly #clock: Clock;
  readonly #waiting: (() => void)[] = [];
  /** Fractions in a private field of its own would be allocated anew with every write (docs/decisions/0076). */
  readonly #turn = { usedMs: 0 };
  #isComing = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether a message may be handled in this turn: none waits, and the ones before it have left time. */
  get hasTime(): boolean {
    return this.#waiting.length === 0 && this.#turn.usedMs < LIMITS.socketMsPerTurn;
  }

  /** Counts what a message has taken of this turn. */
  used(ms: number): void {
    this.#turn.usedMs += ms;
    this.#nextTurn();
  }

  /** Does it in a later turn, in the order of asking. */
  later(work: () => void): void {
    this.#waiting.push(work);
    this.#nextTurn();
  }

  #nextTurn(): void {
    if (this.#isComing) return;
    this.#isComing = true;
    soon(() => this.#serve());
  }

  #serve(): void {
    this.#isComing = false;
    const endMs = this.#clock.monotonicMs() + LIMITS.socketMsPerTurn;
    this.#turn.usedMs = 0;
    let done = 0;
    while (done < this.#waiting.length) {
      this.#waiting[done++]?.();
      if (this.#clock.monotonicMs() >= endMs) break;
    }
    this.#waiting.splice(0, done);
    if (this.#waiting.length > 0) this.#nextTurn();
  }
}
