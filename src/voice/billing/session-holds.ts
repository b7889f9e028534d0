import { assert } from '../../kernel/assert.ts';
import { roomOf } from '../../ledger/rules/hold-what-fits.ts';
import { refuseHold } from '../../models/purchase/refuse-hold.ts';
import type { Extension, OpenedSessionHold, SessionHold, SettleOutcome } from './session-hold.ts';

/** The hold that a session is opened with. */
export const MAIN_HOLD = '';

/** What was bought out of one hold. */
export type Bill = {
  readonly sessionHold: string;
  readonly costRaw: bigint;
  /** What its upstreams tell of beyond that, and what it was for cannot have come to. */
  readonly beyondRaw?: bigint;
  readonly usage: Readonly<Record<string, number>>;
};

/** So much each of several holds. */
export type Reserves = Readonly<Record<string, bigint>>;

/** Opens one of a session's holds. It `isQuiet` where less may do. */
type OpenNamed = (name: string, reserveRaw: bigint, isQuiet: boolean) => Promise<OpenedSessionHold>;

const EXTENDED: Extension = { kind: 'extended' };
const LOST: Extension = { kind: 'lost' };

/**
 * The money of a session: a hold for each maker that it buys of, since a hold counts under the caps of one alone. They
 * are opened as they are needed, and settled together.
 */
export class SessionHolds {
  readonly #open: OpenNamed;
  readonly #sessionHolds = new Map<string, SessionHold>();
  readonly #opening = new Map<string, Promise<Extension>>();
  /** Another process has taken one of them, and ends the session: nothing more is held in any. */
  #isTaken = false;
  #ending: Pick<SettleOutcome, 'reason' | 'status'> | undefined;
  #settlement: Promise<void> | undefined;

  constructor(open: OpenNamed) {
    this.#open = open;
  }

  get heldRaw(): bigint {
    let sumRaw = 0n;
    for (const { heldRaw } of this.#sessionHolds.values()) sumRaw += heldRaw;
    return sumRaw;
  }

  /** What of it was bought with. */
  get spentRaw(): bigint {
    let sumRaw = 0n;
    for (const { spentRaw } of this.#sessionHolds.values()) sumRaw += spentRaw;
    return sumRaw;
  }

  /** Holds so much in one of them for what is not billed yet. */
  async hold(name: string, totalRaw: bigint, isQuiet = false): Promise<Extension> {
    if (this.#isTaken) return LOST;
    const sessionHold = this.#sessionHolds.get(name);
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

  /**
   * The same for speculative work, answering whether it is held: nothing is opened for it, and a cap that stops its
   * agent does not do so over it.
   */
  async holdQuietly(name: string, totalRaw: bigint): Promise<boolean> {
    const sessionHold = this.#isTaken ? undefined : this.#sessionHolds.get(name);
    return (
      sessionHold !== undefined &&
      (await this.#extend(sessionHold, totalRaw, true)).kind === 'extended'
    );
  }

  /** The same for several, all or none of them being of use: answers the first that cannot be. */
  async makeWhole(reserves: Reserves, isQuiet = false): Promise<Extension> {
    const verdicts = await Promise.all(
      Object.entries(reserves).map(([name, totalRaw]) => this.hold(name, totalRaw, isQuiet)),
    );
    return verdicts.find(({ kind }) => kind !== 'extended') ?? EXTENDED;
  }

  /** Writes what was bought, at once. `lost`: some of it was bought with what is settled; the rest is written. */
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

  /**
   * Settles each to everything bought out of it, with a charge row; one that another process took is left to that process. Safe to
   * call twice; never rejects.
   */
  settle(outcome: SettleOutcome): Promise<void> {
    this.#settlement ??= this.#settleAll(outcome);
    return this.#settlement;
  }

  async #settleAll(outcome: SettleOutcome): Promise<void> {
    const { reason, status } = outcome;
    this.#ending = { reason, status };
    await Promise.all([
      ...[...this.#sessionHolds].map(([name, sessionHold]) =>
        sessionHold.settle(name === MAIN_HOLD ? outcome : { reason, status }),
      ),
      ...[...this.#opening.values()].map((opening) => opening.catch(() => {})),
    ]);
  }

  async #extend(sessionHold: SessionHold, totalRaw: bigint, isQuiet: boolean): Promise<Extension> {
    // Reckoned in its turn: what is being written down is spent as well, and what is being held is held.
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
    // One that was not answered may yet come to pass, and is released then: its name is of no use any more.
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

/** Holds what a session begins with. Throws the refusal where that cannot be; nothing stays held then. */
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
