import { holdLargestCount, largestFitting } from '../../../ledger/rules/hold-what-fits.ts';
import type { HoldRefusal } from '../../../ledger/rules/requests.ts';
import type { Model } from '../../../models/catalogue/catalogue.ts';
import {
  type OpenedSessionHold,
  openLargestHold,
  type SessionHoldDeps,
  type SessionHoldOwner,
} from '../../../voice/billing/session-hold.ts';
import { turnCap } from '../../../voice/billing/turn-meter.ts';
import { turnRefused } from '../../../voice/live/voice-endings.ts';
import { ledgerAway, type RelayMeterDeps } from '../../../voice/relay/relay-hold.ts';
import { REALTIME_LIMITS } from '../limits.ts';
import { relayTurnRaw, sizeOf, type TurnSize } from './turn-price.ts';

/** Returns the tokens of the shortest useful answer (`least`) and of the model's longest answer (`most`). */
function answersOf(model: Model): { readonly least: number; readonly most: number } {
  const { outputTokens: most } = turnCap(model);
  return { least: Math.min(REALTIME_LIMITS.leastTurn.outputTokens, most), most };
}

/**
 * Opens the hold of a session that is billed by tokens: one turn, with the longest answer that the model, the balance and every
 * cap allow. Refused when not even the smallest turn can be held.
 */
export const openTurnHold = (
  deps: SessionHoldDeps,
  owner: SessionHoldOwner,
  model: Model,
): Promise<OpenedSessionHold> =>
  openLargestHold(deps, owner, {
    ...answersOf(model),
    priceRaw: (tokens) => relayTurnRaw(model, owner.source, 0, sizeOf(model, tokens)),
  });

/**
 * Holds money for every turn in progress, and for at least one turn. The relay forwards frames unchanged, so it cannot request
 * a short answer of the upstream. When the balance or a cap allows less than a full turn, it holds a smaller turn, and ends the
 * session when the input or the answer outgrows the hold.
 */
export class TurnHold {
  readonly #deps: RelayMeterDeps;
  readonly #answers: { readonly least: number; readonly most: number };
  #conversationTokens = 0;
  #turns = 1;
  #held: TurnSize;
  /** Tokens that the client (`up`) and the upstream (`down`) sent since the last turn ended. */
  readonly #carried = { up: 0, down: 0 };
  /** The refusal that kept the hold below a full turn; undefined while a full turn is held. */
  #short: HoldRefusal | undefined;
  #isAsking = false;
  /** True when `makeWhole` was called again before the ledger answered. */
  #isWanted = false;

  constructor(deps: RelayMeterDeps) {
    const { model, sessionHold } = deps;
    this.#deps = deps;
    this.#answers = answersOf(model);
    const isHeld = (tokens: number) => this.#turnRaw(sizeOf(model, tokens)) <= sessionHold.heldRaw;
    const { least } = this.#answers;
    this.#held = sizeOf(model, largestFitting(this.#answers, isHeld) ?? least);
  }

  /** Returns the amount held for one turn, in raw units: the upper bound of its cost. */
  get turnRaw(): bigint {
    return this.#turnRaw(this.#held);
  }

  /** Counts forwarded tokens. Ends the session when they exceed a hold that is smaller than a full turn. */
  carried(direction: 'up' | 'down', tokens: number): void {
    this.#carried[direction] += tokens;
    if (this.#short === undefined) return;
    const { inputTokens, outputTokens } = this.#held;
    const { up, down } = this.#carried;
    const isWithin = up <= inputTokens && down <= outputTokens * this.#turns;
    if (!isWithin) {
      this.#deps.send({ type: 'budget.spent', ending: turnRefused(this.#short) });
    }
  }

  /**
   * Restarts the count of forwarded tokens when a turn ends. `conversationTokens` is the upstream's count of the whole
   * conversation, which the next turn reads again; without it, the forwarded tokens are added to the previous count.
   */
  turnEnded(conversationTokens?: number): void {
    const { up, down } = this.#carried;
    this.#conversationTokens =
      conversationTokens ?? this.#conversationTokens + Math.ceil(up + down);
    this.#carried.up = 0;
    this.#carried.down = 0;
  }

  /** Tops the hold up to the cost of the turns in progress. Has one request to the ledger in flight at a time. */
  makeWhole(underWay: number): void {
    this.#turns = Math.max(1, underWay);
    if (this.#isAsking) {
      this.#isWanted = true;
      return;
    }
    this.#isAsking = true;
    this.#extend()
      .catch((error: unknown) => ledgerAway(this.#deps, error))
      .finally(() => {
        this.#isAsking = false;
        const isWanted = this.#isWanted;
        this.#isWanted = false;
        if (isWanted) this.makeWhole(this.#turns);
      });
  }

  async #extend(): Promise<void> {
    const { model, sessionHold, send } = this.#deps;
    // Read once: a turn that ends during the ledger call makes another call of `makeWhole`, after its client has received
    // `response.done`.
    const turns = BigInt(this.#turns);
    const conversationTokens = this.#conversationTokens;
    const leftRaw = sessionHold.heldRaw - sessionHold.spentRaw;
    const { short, verdict, wanted } = await holdLargestCount({
      ...this.#answers,
      priceRaw: (tokens) =>
        this.#turnRaw(sizeOf(model, tokens), conversationTokens) * turns - leftRaw,
      hold: (raw, isQuiet) => sessionHold.extend(raw, isQuiet),
    });
    switch (verdict.kind) {
      case 'extended':
        this.#short = short;
        this.#held = sizeOf(model, wanted);
        break;
      case 'lost':
        send({ type: 'claim.lost' });
        break;
      case 'refused':
        send({ type: 'budget.spent', ending: turnRefused(verdict.refusal) });
        break;
    }
  }

  #turnRaw(size: TurnSize, conversationTokens = this.#conversationTokens): bigint {
    const { model, owner } = this.#deps;
    return relayTurnRaw(model, owner.source, conversationTokens, size);
  }
}
