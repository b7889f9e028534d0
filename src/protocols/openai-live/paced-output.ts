import type { Clock } from '../../kernel/clock.ts';
import type { Played } from '../../voice/session/voice-client.ts';

/**
 * Measures how far ahead of real time the speech of a session was sent. The protocol has no event that clears speech which
 * the client has not played, so all sent speech counts as heard.
 */
export class PacedOutput {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  /** Two numbers in one object: V8 would allocate a fraction in a private field anew at every write (docs/decisions/0109). */
  readonly #state = { playedAtMs: 0, sentMs: 0 };
  /** Id of the message that is being spoken. */
  #itemId: string | undefined;

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** Milliseconds of speech that the client has received and not played. */
  get aheadMs(): number {
    return Math.max(0, this.#state.playedAtMs - this.#clock.monotonicMs());
  }

  begin(itemId: string): void {
    this.#itemId = itemId;
    this.#state.sentMs = 0;
  }

  sent(ms: number): void {
    const state = this.#state;
    state.playedAtMs = Math.max(state.playedAtMs, this.#clock.monotonicMs()) + ms;
    state.sentMs += ms;
  }

  /** Marks the message in progress as sent whole. */
  end(): void {
    this.#itemId = undefined;
  }

  /**
   * Returns the part of the message in progress that the caller hears if nothing more is sent; undefined without a message in
   * progress.
   */
  get heard(): Played | undefined {
    return this.#itemId === undefined
      ? undefined
      : { itemId: this.#itemId, heardMs: this.#state.sentMs };
  }
}
