import { maxRaw, minRaw } from '../../kernel/amount.ts';
import { roomOf } from '../../ledger/rules/hold-what-fits.ts';
import type { Reserve, ReserveWork } from '../../ledger/rules/requests.ts';
import type { SettleOutcome } from './close-session-hold.ts';
import type { Extension, OpenedSessionHold, Reserves, SessionHold } from './session-hold.ts';

/** Name of the hold that a session is opened with. */
export const MAIN_HOLD = '';

/** A charge to one hold. */
export type SessionCharge = {
  readonly sessionHold: string;
  readonly costRaw: bigint;
  /** Price of the usage that upstreams report beyond the possible usage. */
  readonly beyondRaw?: bigint;
  readonly usage: Readonly<Record<string, number>>;
};

/** Opens one of a session's holds. `isQuiet` is true when the caller may request a smaller amount next. */
type OpenNamed = (name: string, reserveRaw: bigint, isQuiet: boolean) => Promise<OpenedSessionHold>;

const EXTENDED: Extension = { kind: 'extended' };
const LOST: Extension = { kind: 'lost' };

/**
 * The holds of a session: one for each maker of models, since a hold counts under the caps of one maker. Holds are opened on
 * demand and settled together.
 */
export class SessionHolds implements Reserve {
  readonly #open: OpenNamed;
  readonly #sessionHolds = new Map<string, SessionHold>();
  readonly #opening = new Map<string, Promise<Extension>>();
  /** True once another process has taken a hold over and ends the session. Nothing more is held then. */
  #isTaken = false;
  #ending: Pick<SettleOutcome, 'reason' | 'status'> | undefined;
  #settlement: Promise<void> | undefined;
  /** True when the session may spend its main hold alone: other holds take their amounts out of the main hold. */
  readonly #hasOneReserve: boolean;
  readonly #holdIdOf: ((name: string) => string) | undefined;
  /** Amount that was taken out of the main hold and is in no other hold yet. */
  #looseRaw = 0n;
  /**
   * `spentRaw` of the main hold once its part of the current turn is billed. Until then no other hold takes from that part.
   */
  #keptUntilRaw = 0n;
  #within: Promise<unknown> = Promise.resolve();
  #isReserveSpent = false;

  constructor(
    open: OpenNamed,
    options: {
      readonly hasOneReserve?: boolean;
      /** Returns the ledger's id of a hold, for sessions with one reserve. */
      readonly holdIdOf?: (name: string) => string;
    } = {},
  ) {
    this.#open = open;
    this.#hasOneReserve = options.hasOneReserve ?? false;
    this.#holdIdOf = options.holdIdOf;
  }

  /** Sets the main hold, which is already open. */
  adopt(main: SessionHold): void {
    this.#sessionHolds.set(MAIN_HOLD, main);
  }

  get heldRaw(): bigint {
    let sumRaw = 0n;
    for (const { heldRaw } of this.#sessionHolds.values()) sumRaw += heldRaw;
    return sumRaw;
  }

  /** Unspent amount of the main hold. */
  get mainFreeRaw(): bigint {
    const main = this.#sessionHolds.get(MAIN_HOLD);
    return main === undefined ? 0n : main.heldRaw - main.spentRaw;
  }

  /** True when the main hold, and not the balance or a cap, was too small for an amount. */
  get isReserveSpent(): boolean {
    return this.#isReserveSpent;
  }

  /** Spent amount of all holds. */
  get spentRaw(): bigint {
    let sumRaw = 0n;
    for (const { spentRaw } of this.#sessionHolds.values()) sumRaw += spentRaw;
    return sumRaw;
  }

  /** Tops one hold up, so that it covers unbilled charges of `totalRaw`. */
  hold(name: string, totalRaw: bigint, isQuiet = false): Promise<Extension> {
    return this.makeWhole({ [name]: totalRaw }, isQuiet);
  }

  /** Holds `totalRaw` for speculative work in an open hold; true when held. A refusal never suspends the agent. */
  async holdQuietly(name: string, totalRaw: bigint): Promise<boolean> {
    if (!this.#sessionHolds.has(name)) return false;
    return (await this.hold(name, totalRaw, true)).kind === 'extended';
  }

  /** Extends several holds to the given totals, all of which are needed. Resolves to the first failure. */
  async makeWhole(reserves: Reserves, isQuiet = false): Promise<Extension> {
    if (this.#isTaken) return LOST;
    const main = this.#hasOneReserve ? this.#sessionHolds.get(MAIN_HOLD) : undefined;
    if (main !== undefined) return this.#holdWithin(main, reserves, isQuiet);
    const verdicts = await Promise.all(
      Object.entries(reserves).map(async ([name, totalRaw]) => {
        const verdict = await this.#fill(name, totalRaw, isQuiet);
        return this.#sized(verdict, name);
      }),
    );
    return verdicts.find(({ kind }) => kind !== 'extended') ?? EXTENDED;
  }

  #fill(name: string, totalRaw: bigint, isQuiet: boolean): Promise<Extension> {
    const sessionHold = this.#sessionHolds.get(name);
    if (sessionHold === undefined) return this.#openOnce(name, totalRaw, isQuiet);
    // Computed when the queued charges and extensions before it are done.
    const missingRaw = () => totalRaw - (sessionHold.heldRaw - sessionHold.spentRaw);
    return this.#extend(sessionHold, missingRaw, isQuiet);
  }

  /** Adds to a refusal the room that is left in its hold. */
  #sized(verdict: Extension, name: string): Extension {
    if (verdict.kind !== 'refused') return verdict;
    const room = roomOf(verdict.refusal);
    if (room === undefined) return verdict;
    const roomRaw = this.#unspentRaw(name) + room.availableRaw;
    return { ...verdict, fits: (reserves) => (reserves[name] ?? 0n) <= roomRaw };
  }

  #unspentRaw(name: string): bigint {
    const sessionHold = this.#sessionHolds.get(name);
    return sessionHold === undefined ? 0n : sessionHold.heldRaw - sessionHold.spentRaw;
  }

  /** Holds amounts inside the one reserve, when all of them fit together. Each call sees the amounts of earlier calls. */
  #holdWithin(main: SessionHold, reserves: Reserves, isQuiet: boolean): Promise<Extension> {
    const held = this.#within.then(async () => {
      if (!this.#fitsWithin(main, reserves)) return this.#outOfReserve(main, reserves);
      this.#keptUntilRaw = main.spentRaw + this.#keptRaw(main, reserves);
      for (const [name, totalRaw] of Object.entries(reserves)) {
        if (name === MAIN_HOLD) continue;
        const verdict = await this.#takeWithin(main, name, totalRaw, isQuiet);
        if (verdict === 'short') return this.#outOfReserve(main, reserves);
        if (verdict.kind !== 'extended') return this.#sized(verdict, name);
      }
      return EXTENDED;
    });
    this.#within = held.catch(() => {});
    return held;
  }

  /**
   * Runs work that lends from the main hold, one at a time with other uses of that hold. The amount for the turn in progress is
   * not lent.
   */
  use<T>(work: ReserveWork<T>): Promise<T> {
    const used = this.#within.then(async () => {
      const isOver = this.#isTaken || this.#ending !== undefined;
      const main = isOver ? undefined : this.#sessionHolds.get(MAIN_HOLD);
      if (main === undefined) return (await work(undefined, 0n)).result;
      return main.use(work, this.#keptRaw(main, {}));
    });
    this.#within = used.catch(() => {});
    return used;
  }

  /** Returns the amount that stays in the main hold: its part of `reserves`, or else of the turn that is held. */
  #keptRaw(main: SessionHold, reserves: Reserves): bigint {
    return reserves[MAIN_HOLD] ?? maxRaw(0n, this.#keptUntilRaw - main.spentRaw);
  }

  #fitsWithin(main: SessionHold, reserves: Reserves): boolean {
    let missingRaw = 0n;
    for (const [name, totalRaw] of Object.entries(reserves)) {
      if (name !== MAIN_HOLD) missingRaw += maxRaw(0n, totalRaw - this.#unspentRaw(name));
    }
    const takenRaw = maxRaw(0n, missingRaw - this.#looseRaw);
    if (takenRaw === 0n && reserves[MAIN_HOLD] === undefined) return true;
    return takenRaw + this.#keptRaw(main, reserves) <= main.heldRaw - main.spentRaw;
  }

  async #takeWithin(
    main: SessionHold,
    name: string,
    totalRaw: bigint,
    isQuiet: boolean,
  ): Promise<Extension | 'short'> {
    const sessionHold = this.#sessionHolds.get(name);
    const missingRaw = totalRaw - this.#unspentRaw(name);
    if (missingRaw <= 0n) return EXTENDED;
    const takenRaw = missingRaw - minRaw(missingRaw, this.#looseRaw);
    // Charges that are billed meanwhile are a part of `totalRaw`.
    const wholeRaw = (sessionHold?.heldRaw ?? 0n) + missingRaw;
    const take = () =>
      sessionHold === undefined
        ? this.#openOnce(name, totalRaw, isQuiet)
        : this.#extend(sessionHold, () => wholeRaw - sessionHold.heldRaw, isQuiet);
    let taking: Promise<Extension> | undefined;
    const given =
      takenRaw === 0n
        ? 'given'
        : await main.shrink(takenRaw, this.#holdIdOf?.(name), () => {
            taking = take();
          });
    if (given === 'lost') this.#isTaken = true;
    if (given === 'lost') return LOST;
    if (given === 'short') return 'short';
    this.#looseRaw += takenRaw;
    const verdict = await (taking ?? take());
    if (verdict.kind === 'extended') this.#looseRaw -= missingRaw;
    return verdict;
  }

  #outOfReserve(main: SessionHold, reserves: Reserves): Extension {
    this.#isReserveSpent = true;
    let availableRaw = main.heldRaw - main.spentRaw + this.#looseRaw;
    let requiredRaw = this.#keptRaw(main, reserves);
    for (const [name, totalRaw] of Object.entries(reserves)) {
      if (name === MAIN_HOLD) continue;
      availableRaw += this.#unspentRaw(name);
      requiredRaw += totalRaw;
    }
    return {
      kind: 'refused',
      refusal: { reason: 'insufficient_balance', availableRaw, requiredRaw },
      fits: (fewer) => this.#fitsWithin(main, fewer),
    };
  }

  /** Journals all bills at once. Resolves to `lost` when a hold was settled before its bill; the other bills are written. */
  async journal(bills: readonly SessionCharge[]): Promise<'written' | 'lost'> {
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

  /** Settles each hold with a charge row, except a hold that another process took. Safe to call twice; never rejects. */
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

  async #extend(
    sessionHold: SessionHold,
    missingRaw: () => bigint,
    isQuiet: boolean,
  ): Promise<Extension> {
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
    // After a rejection the name stays in `#opening`: the hold may still be opened, and is then released.
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
