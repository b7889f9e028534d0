/** Party for which this server looks up a name or connects. */
export type Asker = {
  /** Account, whose agents share its places; for a stranger, the client network. */
  readonly account: string;
  readonly agent: string;
  /** Returns true when the account has money. Called only when the open half is used up. */
  readonly hasMoney: () => Promise<boolean>;
};

/** This server as the asker, for work that has bounds of its own. */
export const OPERATOR: unique symbol = Symbol('operator');

/** Gives a place back; safe to call more than once. */
export type GiveBack = () => void;

/**
 * Divides a number of places. One half is open to all askers, the other half to askers with money once the first is used up. In
 * either half an account never has more than it leaves to all others, and an agent never more than three times the places that
 * it leaves to its account: newcomers find a place, however many greedy accounts came before.
 */
export class FairShares {
  readonly #open: Half;
  readonly #paid: Half;

  constructor(places: number) {
    const half = Math.ceil(places / 2);
    this.#open = new Half(half);
    this.#paid = new Half(places - half);
  }

  get isIdle(): boolean {
    return this.#open.held + this.#paid.held === 0;
  }

  /** Takes a place. Undefined when there is no place for this asker now. */
  take(asker: Asker | typeof OPERATOR, hasMoney: boolean): GiveBack | undefined {
    if (asker === OPERATOR) return this.#open.takeAny() ?? this.#paid.takeAny();
    return this.#open.take(asker) ?? (hasMoney ? this.#paid.take(asker) : undefined);
  }
}

/** Calls `take`, which must not wait. Queries whether the asker has money only when `take` finds no place without it. */
export async function takeFairly(
  asker: Asker | typeof OPERATOR,
  take: (hasMoney: boolean) => GiveBack | undefined,
): Promise<GiveBack | undefined> {
  const place = take(false);
  if (place !== undefined || asker === OPERATOR) return place;
  return (await asker.hasMoney()) ? take(true) : undefined;
}

class Half {
  readonly #places: number;
  held = 0;
  /** Places by account; accounts without a place have no entry. */
  readonly #byAccount = new Map<string, number>();
  readonly #byAgent = new Map<string, number>();

  constructor(places: number) {
    this.#places = places;
  }

  takeAny(): GiveBack | undefined {
    if (this.held >= this.#places) return undefined;
    this.held++;
    return once(() => this.held--);
  }

  take({ account, agent }: Asker): GiveBack | undefined {
    const ofAccount = (this.#byAccount.get(account) ?? 0) + 1;
    const ofAgent = (this.#byAgent.get(agent) ?? 0) + 1;
    const free = this.#places - this.held;
    if (ofAccount > free) return undefined;
    // The account gets half of the sum of its own places and the free ones.
    const leftToAccount = Math.floor((free + ofAccount - 1) / 2) - ofAccount + 1;
    if (ofAgent > 1 && ofAgent > 3 * leftToAccount) return undefined;
    this.held++;
    this.#byAccount.set(account, ofAccount);
    this.#byAgent.set(agent, ofAgent);
    return once(() => {
      this.held--;
      lessen(this.#byAccount, account);
      lessen(this.#byAgent, agent);
    });
  }
}

function lessen(counts: Map<string, number>, of: string): void {
  const left = (counts.get(of) ?? 1) - 1;
  if (left > 0) counts.set(of, left);
  else counts.delete(of);
}

function once(work: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) work();
    isDone = true;
  };
}
