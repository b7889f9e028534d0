import type { Clock, TimerHandle } from '../../kernel/clock.ts';

/**
 * Outcome of a call's wait. `now`: the call may be dialled. `late`: it waited too long, or a call of another account took its
 * place. `left`: it was hung up while it waited.
 */
export type DialTurn = 'now' | 'late' | 'left';

/** A call's place in the queue of a carrier. */
export type DialPlace = {
  readonly turn: Promise<DialTurn>;
  /** Leaves the queue. Does nothing when the call's turn has come. */
  leave(): void;
};

/** The queue before a carrier that takes `perSecond` calls a second. */
export interface DialPacer {
  /** Adds a call to the queue. Undefined when the queue is full and the account has its share of the places. */
  enter(accountId: string, callId: string): DialPlace | undefined;
  /** Removes a call that was hung up from the queue. */
  leave(callId: string): void;
  readonly perSecond: number;
  readonly waiting: number;
}

export type DialPacerDeps = {
  readonly clock: Clock;
  readonly perSecond: number;
  /** Longest wait of a call, in milliseconds. No more calls wait than the carrier takes in that time. */
  readonly longestWaitMs: number;
};

type Waiting = {
  readonly accountId: string;
  readonly callId: string;
  readonly tell: (turn: DialTurn) => void;
  readonly overdue: TimerHandle;
};

/**
 * Creates the queue of calls to dial, at the rate that the carrier accepts. Accounts take turns, however many calls each of
 * them queues; when the queue is full, an account with at least two fewer calls displaces the last call of the account with the
 * most calls.
 */
export const createDialPacer = (deps: DialPacerDeps): DialPacer => new Pacer(deps);

class Pacer implements DialPacer {
  readonly perSecond: number;
  readonly #clock: Clock;
  readonly #longestWaitMs: number;
  readonly #everyMs: number;
  readonly #most: number;
  /** Queued calls by account, in the order of the accounts' next turns. Accounts without a queued call are absent. */
  readonly #lines = new Map<string, Waiting[]>();
  readonly #places = new Map<string, Waiting>();
  #freeAtMs = Number.NEGATIVE_INFINITY;
  #timer: TimerHandle | undefined;

  constructor({ clock, longestWaitMs, perSecond }: DialPacerDeps) {
    this.perSecond = perSecond;
    this.#clock = clock;
    this.#longestWaitMs = longestWaitMs;
    this.#everyMs = 1_000 / perSecond;
    this.#most = Math.max(1, Math.floor(longestWaitMs / this.#everyMs));
  }

  get waiting(): number {
    return this.#places.size;
  }

  enter(accountId: string, callId: string): DialPlace | undefined {
    if (this.waiting === 0 && this.#clock.monotonicMs() >= this.#freeAtMs) {
      this.#takeTurn();
      return { turn: Promise.resolve('now'), leave() {} };
    }
    if (!this.#makeRoom(accountId)) return undefined;
    let tell = (_: DialTurn) => {};
    const turn = new Promise<DialTurn>((resolve) => {
      tell = resolve;
    });
    const late = () => this.#end(place, 'late');
    const overdue = this.#clock.setTimeout(late, this.#longestWaitMs);
    const place: Waiting = { accountId, callId, tell, overdue };
    this.#places.set(callId, place);
    this.#lines.set(accountId, [...(this.#lines.get(accountId) ?? []), place]);
    this.#wake();
    return { turn, leave: () => this.#end(place, 'left') };
  }

  leave(callId: string): void {
    const place = this.#places.get(callId);
    if (place !== undefined) this.#end(place, 'left');
  }

  #takeTurn() {
    this.#freeAtMs = Math.max(this.#freeAtMs, this.#clock.monotonicMs()) + this.#everyMs;
  }

  #wake() {
    if (this.#timer !== undefined || this.waiting === 0) return;
    const inMs = Math.max(0, Math.ceil(this.#freeAtMs - this.#clock.monotonicMs()));
    this.#timer = this.#clock.setTimeout(() => this.#serve(), inMs);
  }

  #serve() {
    this.#timer = undefined;
    const [next] = this.#lines.values();
    const place = next?.[0];
    if (place === undefined) return;
    this.#takeTurn();
    this.#end(place, 'now');
    const { accountId } = place;
    const rest = this.#lines.get(accountId);
    this.#lines.delete(accountId);
    if (rest !== undefined) this.#lines.set(accountId, rest);
    this.#wake();
  }

  #end(place: Waiting, turn: DialTurn) {
    const { accountId, callId, overdue, tell } = place;
    if (!this.#places.delete(callId)) return;
    this.#clock.clearTimeout(overdue);
    const line = this.#lines.get(accountId)?.filter((other) => other !== place) ?? [];
    if (line.length > 0) this.#lines.set(accountId, line);
    else this.#lines.delete(accountId);
    tell(turn);
  }

  /**
   * Returns true when one more call of this account may wait. In a full queue the account with the most waiting calls loses its
   * last place to an account that has at least two calls less.
   */
  #makeRoom(accountId: string): boolean {
    if (this.waiting < this.#most) return true;
    let longest: readonly Waiting[] = [];
    for (const line of this.#lines.values()) if (line.length > longest.length) longest = line;
    const last = longest.at(-1);
    const own = this.#lines.get(accountId)?.length ?? 0;
    if (last === undefined || longest.length < own + 2) return false;
    this.#end(last, 'late');
    return true;
  }
}
