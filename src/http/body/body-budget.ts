/** Bound that a byte of a body exceeds: `overloaded` the bound of all bodies, `crowded` the bound of the caller's bodies. */
export type OverBudget = 'overloaded' | 'crowded';

/** Bounds of the bodies that are arriving or being handled: of all, and of each caller. */
export type BodyBounds = { readonly bytes: number; readonly bytesPerCaller: number };

/**
 * Counts the bytes of bodies that the requests of this process hold. A caller has its own bound, and never holds more than is
 * left for all other callers: greedy callers, however many, halve the free bytes and do not use them up.
 */
export class BodyBudget {
  readonly #bounds: BodyBounds;
  /** Bytes by caller, for callers that hold any: no more than there are requests under way. */
  readonly #byCaller = new Map<string, number>();
  #heldBytes = 0;

  constructor(bounds: BodyBounds) {
    this.#bounds = bounds;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** Takes `bytes` more, or returns the reason against it. While the caller is unknown, only the bound of all bodies counts. */
  take(bytes: number, caller: string | undefined): OverBudget | undefined {
    const free = this.#bounds.bytes - this.#heldBytes;
    if (bytes > free) return 'overloaded';
    if (caller !== undefined && !this.#charge(caller, bytes, free)) return 'crowded';
    this.#heldBytes += bytes;
    return undefined;
  }

  /**
   * Charges a caller for bytes that were taken before the caller was known. Returns `crowded` when the caller's bound is
   * exceeded.
   */
  assign(bytes: number, caller: string): OverBudget | undefined {
    const free = this.#bounds.bytes - this.#heldBytes + bytes;
    return this.#charge(caller, bytes, free) ? undefined : 'crowded';
  }

  giveBack(bytes: number, caller: string | undefined): void {
    this.#heldBytes -= bytes;
    if (caller === undefined) return;
    const left = (this.#byCaller.get(caller) ?? 0) - bytes;
    if (left > 0) this.#byCaller.set(caller, left);
    else this.#byCaller.delete(caller);
  }

  #charge(caller: string, bytes: number, free: number): boolean {
    const held = (this.#byCaller.get(caller) ?? 0) + bytes;
    if (held > Math.min(this.#bounds.bytesPerCaller, free)) return false;
    if (held > 0) this.#byCaller.set(caller, held);
    return true;
  }
}

/** Share of the body budget that one request holds. */
export class BodyShare {
  readonly #budget: BodyBudget;
  #bytes = 0;
  #caller: string | undefined;

  constructor(budget: BodyBudget) {
    this.#budget = budget;
  }

  take(bytes: number): OverBudget | undefined {
    const over = this.#budget.take(bytes, this.#caller);
    if (over === undefined) this.#bytes += bytes;
    return over;
  }

  /**
   * Charges all bytes of the share, past and future, to a caller. Returns the bound that this exceeds; undefined within all
   * bounds.
   */
  belongsTo(caller: string): OverBudget | undefined {
    if (this.#caller !== undefined) return undefined;
    const over = this.#budget.assign(this.#bytes, caller);
    if (over === undefined) this.#caller = caller;
    return over;
  }

  /** Gives the held bytes back to the budget. Safe to call more than once. */
  giveBack(): void {
    this.#budget.giveBack(this.#bytes, this.#caller);
    this.#bytes = 0;
  }
}
