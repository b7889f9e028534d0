import { minRaw } from '../../kernel/amount.ts';
import { assert } from '../../kernel/assert.ts';
import { roomOf } from '../../ledger/rules/hold-what-fits.ts';
import { refuseHold } from '../../models/purchase/refuse-hold.ts';
import type { SettleOutcome } from './close-session-hold.ts';
import type { Extension, OpenedSessionHold, SessionHold } from './session-hold.ts';

/** The hold that a session is opened with. */
export const MAIN_HOLD = '';

/** A charge to one hold. */
export type Bill = {
  readonly sessionHold: string;
  readonly costRaw: bigint;
  /** The price of what upstreams report beyond what is possible. */
  readonly beyondRaw?: bigint;
  readonly usage: Readonly<Record<string, number>>;
};

/** The amount for each hold, by its name. */
export type Reserves = Readonly<Record<string, bigint>>;

/** Opens one of a session's holds. `isQuiet`: the caller may ask for less next. */
type OpenNamed = (name: string, reserveRaw: bigint, isQuiet: boolean) => Promise<OpenedSessionHold>;

const EXTENDED: Extension = { kind: 'extended' };
const LOST: Extension = { kind: 'lost' };

/**
 * The holds of a session: one for each maker that it buys from, since a hold counts under the caps of one maker. They
 * are opened on demand and settled together.
 */
export class SessionHolds {
  readonly #open: OpenNamed;
  readonly #sessionHolds = new Map<string, SessionHold>();
  readonly #opening = new Map<string, Promise<Extension>>();
  /** Another process has taken a hold over, and ends the session: nothing more is held. */
  #isTaken = false;
  #ending: Pick<SettleOutcome, 'reason' | 'status'> | undefined;
  #settlement: Promise<void> | undefined;
  /** Whether the main hold is all that the session may spend: what other holds need is taken out of it. */
  readonly #hasOneReserve: boolean;
  readonly #holdIdOf: ((name: string) => string) | undefined;
  /** What was taken out of the main hold and is in no other. */
  #looseRaw = 0n;
  #within: Promise<unknown> = Promise.resolve();
  #isReserveSpent = false;

  constructor(
    open: OpenNamed,
    options: {
      readonly hasOneReserve?: boolean;
      /** The ids of the holds in the ledger, of a session with one reserve. */
      readonly holdIdOf?: (name: string) => string;
    } = {},
  ) {
    this.#open = open;
    this.#hasOneReserve = options.hasOneReserve ?? false;
    this.#holdIdOf = options.holdIdOf;
  }

  /** Begins with a main hold that is open already. */
  adopt(main: SessionHold): void {
    this.#sessionHolds.set(MAIN_HOLD, main);
  }

  get heldRaw(): bigint {
    let sumRaw = 0n;
    for (const { heldRaw } of this.#sessionHolds.values()) sumRaw += heldRaw;
    return sumRaw;
  }

  /** What the main hold has left. */
  get mainFreeRaw(): bigint {
    const main = this.#sessionHolds.get(MAIN_HOLD);
    return main === undefined ? 0n : main.heldRaw - main.spentRaw;
  }

  /** Whether the one reserve has refused something, not the balance or a cap. */
  get isReserveSpent(): boolean {
    return this.#isReserveSpent;
  }

  /** How much of it is spent. */
  get spentRaw(): bigint {
    let sumRaw = 0n;
    for (const { spentRaw } of this.#sessionHolds.values()) sumRaw += spentRaw;
    return sumRaw;
  }

  /** Holds `totalRaw` for unbilled charges in one of the holds. */
  async hold(name: string, totalRaw: bigint, isQuiet = false): Promise<Extension> {
    if (this.#isTaken) return LOST;
    const sessionHold = this.#sessionHolds.get(name);
    if (this.#hasOneReserve && this.#sessionHolds.has(MAIN_HOLD)) {
      return this.#holdWithin(name, totalRaw, isQuiet);
    }
    const verdict = await (sessionHold === undefined
      ? this.#openOnce(name, totalRaw, isQuiet)
      : this.#extend(sessionHold, totalRaw, isQuiet));
    if (verdict.kind !== 'refused') return verdict;
    const room = roomOf(verdict.refusal);
    const known = this.#sessionHolds.get(name);
    const unspentRaw = known === undefined ? 0n : known.heldRaw - known.spentRaw;
    const short = room && { sessionHold: name, roomRaw: unspentRaw + room.availableRaw };
    return { ...verdict, short };
  }

  /** Holds a part of the one reserve. Each call sees what those before it have taken. */
  #holdWithin(name: string, totalRaw: bigint, isQuiet: boolean): Promise<Extension> {
    const held = this.#within.then(() => this.#takeWithin(name, totalRaw, isQuiet));
    this.#within = held.catch(() => {});
    return held;
  }

  async #takeWithin(name: string, totalRaw: bigint, isQuiet: boolean): Promise<Extension> {
    const main = this.#sessionHolds.get(MAIN_HOLD);
    assert(main !== undefined, 'the reserve is held first');
    const freeRaw = main.heldRaw - main.spentRaw;
    if (name === MAIN_HOLD) {
      return freeRaw >= totalRaw ? EXTENDED : this.#outOfReserve(name, freeRaw, totalRaw);
    }
    const sessionHold = this.#sessionHolds.get(name);
    const unspentRaw = sessionHold === undefined ? 0n : sessionHold.heldRaw - sessionHold.spentRaw;
    const missingRaw = totalRaw - unspentRaw;
    if (missingRaw <= 0n) return EXTENDED;
    const takenRaw = missingRaw - minRaw(missingRaw, this.#looseRaw);
    const outOfReserve = () =>
      this.#outOfReserve(name, unspentRaw + this.#looseRaw + freeRaw, totalRaw);
    if (takenRaw > freeRaw) return outOfReserve();
    const take = () =>
      sessionHold === undefined
        ? this.#openOnce(name, totalRaw, isQuiet)
        : this.#extend(sessionHold, totalRaw, isQuiet);
    let taking: Promise<Extension> | undefined;
    const given =
      takenRaw === 0n
        ? 'given'
        : await main.shrink(takenRaw, this.#holdIdOf?.(name), () => {
            taking = take();
          });
    if (given === 'lost') this.#isTaken = true;
    if (given === 'lost') return LOST;
    if (given === 'short') return outOfReserve();
    this.#looseRaw += takenRaw;
    const verdict = await (taking ?? take());
    if (verdict.kind === 'extended') this.#looseRaw -= missingRaw;
    return verdict;
  }

  #outOfReserve(sessionHold: string, availableRaw: bigint, requiredRaw: bigint): Extension {
    this.#isReserveSpent = true;
    return {
      kind: 'refused',
      refusal: { reason: 'insufficient_balance', availableRaw, requiredRaw },
      short: { sessionHold, roomRaw: availableRaw },
    };
  }

  /** The same for speculative work; returns whether it is held. It opens no hold, and no cap suspends the agent. */
  async holdQuietly(name: string, totalRaw: bigint): Promise<boolean> {
    const sessionHold = this.#isTaken ? undefined : this.#sessionHolds.get(name);
    if (this.#hasOneReserve && sessionHold !== undefined) {
      return (await this.#holdWithin(name, totalRaw, true)).kind === 'extended';
    }
    return (
      sessionHold !== undefined &&
      (await this.#extend(sessionHold, totalRaw, true)).kind === 'extended'
    );
  }

  /** The same for several holds, all of which are needed: returns the first failure. */
  async makeWhole(reserves: Reserves, isQuiet = false): Promise<Extension> {
    const verdicts = await Promise.all(
      Object.entries(reserves).map(([name, totalRaw]) => this.hold(name, totalRaw, isQuiet)),
    );
    return verdicts.find(({ kind }) => kind !== 'extended') ?? EXTENDED;
  }

  /** Journals all bills at once. `lost`: a hold was settled before its bill; the other bills are written. */
  async journal(bills: readonly Bill[]): Promise<'written' | 'lost'> {
    for (const { beyondRaw = 0n, sessionHold } of bills) {
      if (beyondRaw > 0n) this.#sessionHolds.get(sessionHold)?.disown(beyondRaw, false);
    }
    const written = await Promise.all(
      bills.map(({ costRaw, sessionHold, usage }) =>
        this.#sessionHolds.get(sessionHold)?.journal(costRaw, usage),
      ),
    );
    if (written.every((verdict) => verdict === 'written')) return 'written';
    this.#isTaken = true;
    return 'lost';
  }

  /** Settles each hold with a charge row, except one that another process took. Safe to call twice; never rejects. */
  settle(outcome: SettleOutcome): Promise<void> {
    this.#settlement ??= this.#settleAll(outcome);
    return this.#settlement;
  }

  async #settleAll(outcome: SettleOutcome): Promise<void> {
    const { charged, reason, status } = outcome;
    this.#ending = { reason, status };
    await Promise.all([
      ...[...this.#sessionHolds].map(([name, sessionHold]) =>
        sessionHold.settle(name === MAIN_HOLD ? outcome : { reason, status, charged }),
      ),
      ...[...this.#opening.values()].map((opening) => opening.catch(() => {})),
    ]);
  }

  async #extend(sessionHold: SessionHold, totalRaw: bigint, isQuiet: boolean): Promise<Extension> {
    // Computed in its turn, after the charges and extensions before it.
    const missingRaw = () => totalRaw - (sessionHold.heldRaw - sessionHold.spentRaw);
    const verdict = await sessionHold.extend(missingRaw, isQuiet);
    if (verdict.kind === 'lost') this.#isTaken = true;
    return verdict;
  }

  async #openOnce(name: string, reserveRaw: bigint, isQuiet: boolean): Promise<Extension> {
    if (this.#ending !== undefined) return LOST;
    const begun = this.#opening.get(name);
    if (begun !== undefined) {
      await begun;
      return this.hold(name, reserveRaw, isQuiet);
    }
    const opening = this.#openNow(name, reserveRaw, isQuiet);
    this.#opening.set(name, opening);
    // After a rejection the name stays taken: the hold may still be opened, and is released then.
    const verdict = await opening;
    this.#opening.delete(name);
    return verdict;
  }

  async #openNow(name: string, reserveRaw: bigint, isQuiet: boolean): Promise<Extension> {
    const opened = await this.#open(name, reserveRaw, isQuiet);
    if (opened.kind === 'refused') return opened;
    this.#sessionHolds.set(name, opened.sessionHold);
    if (this.#ending === undefined) return EXTENDED;
    await opened.sessionHold.settle(this.#ending);
    return LOST;
  }
}

/** Holds what a session begins with. Throws the refusal, with nothing left held. */
export async function openSessionHolds(
  sessionHolds: SessionHolds,
  hold: () => Promise<Extension>,
): Promise<void> {
  let verdict: Extension = LOST;
  try {
    verdict = await hold();
  } finally {
    if (verdict.kind !== 'extended') {
      await sessionHolds.settle({ reason: 'not_opened', status: 'failed' });
    }
  }
  if (verdict.kind === 'refused') throw refuseHold(verdict.refusal);
  assert(
    verdict.kind === 'extended',
    'a session that is being opened is known to this process alone',
  );
}
