import { type Clock, soon } from '../../kernel/clock.ts';
import { LIMITS } from '../../kernel/limits.ts';

/** For the messages that wait for a turn; a longer one, or one that finds it full, gets memory of its own. */
const MEMORY_BYTES = 256 * 1024;

/** Between two messages that the library hands on in one turn less time passes than this. */
const REST_MS = 0.5;

/**
 * Spreads the messages of all sockets over turns of the event loop. The library hands on all that has come in one turn:
 * what five sockets send at once would be handled at once, however long that takes. Messages with a rest between them
 * are of different turns; asking the event loop for the end of each turn would cost as much as a frame of sound.
 */
export class MessageLine {
  readonly #clock: Clock;
  readonly #waiting: (() => void)[] = [];
  /** An array buffer for each message would cost as much as a frame of sound. */
  readonly #memory = new Uint8Array(MEMORY_BYTES);
  #keptBytes = 0;
  /** Fractions in a private field of its own would be allocated anew with every write (docs/decisions/0109). */
  readonly #turn = { usedMs: 0, endedMs: 0 };
  #isComing = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether a message that comes now may be handled at once: none waits, and the ones before it have left time. */
  hasTime(nowMs: number): boolean {
    const turn = this.#turn;
    if (nowMs - turn.endedMs > REST_MS) turn.usedMs = 0;
    return this.#waiting.length === 0 && turn.usedMs < LIMITS.socketMsPerTurn;
  }

  /** Counts what a message has taken. Times are of the monotonic clock. */
  used(startedMs: number, endedMs: number): void {
    this.#turn.usedMs += endedMs - startedMs;
    this.#turn.endedMs = endedMs;
  }

  /** A copy of a message that waits. It is good until its work is done. */
  keep(message: ArrayBuffer): Uint8Array {
    const { byteLength } = message;
    if (this.#keptBytes + byteLength > MEMORY_BYTES) return new Uint8Array(message.slice(0));
    const kept = this.#memory.subarray(this.#keptBytes, this.#keptBytes + byteLength);
    kept.set(new Uint8Array(message));
    this.#keptBytes += byteLength;
    return kept;
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
    else this.#keptBytes = 0;
  }
}
