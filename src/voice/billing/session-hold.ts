import type { Clock } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import { addUsage, priceRaw, type Usage } from '../../kernel/price.ts';
import { destinationOf } from '../../ledger/rules/destination.ts';
import { holdLargestCount } from '../../ledger/rules/hold-what-fits.ts';
import type { Ledger } from '../../ledger/rules/ledger.ts';
import type {
  HoldRefusal,
  ReserveWork,
  SessionClaim,
  TakenSession,
} from '../../ledger/rules/requests.ts';
import type { Source } from '../../models/catalogue/catalogue.ts';
import type { CircuitBreaker } from '../../models/providers/circuit-breaker.ts';
import { distrust } from '../../models/purchase/attempt.ts';
import {
  accountOf,
  closeClaim,
  gatewayTarget,
  type HeldFor,
  type SettleOutcome,
} from './close-session-hold.ts';

export type SessionHoldDeps = {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly log: Log;
  /** Undefined when the provider is trusted, such as the engines of this process. */
  readonly breaker?: Pick<CircuitBreaker, 'distrusted'>;
};

/** Amounts to hold, by the name of the session's hold. */
export type Reserves = Readonly<Record<string, bigint>>;

export type SessionHoldOwner = HeldFor & {
  readonly kind: 'transcription' | 'realtime' | 'call';
};

export type Extension =
  | { readonly kind: 'extended' }
  | {
      readonly kind: 'refused';
      readonly refusal: HoldRefusal;
      /** Returns true when these smaller reserves would be held. Undefined when the size did not cause the refusal. */
      readonly fits?: (reserves: Reserves) => boolean;
    }
  | { readonly kind: 'lost' };

export type OpenedSessionHold =
  | { readonly kind: 'opened'; readonly sessionHold: SessionHold }
  | { readonly kind: 'refused'; readonly refusal: HoldRefusal };

/** The hold of a session and the charges to it. Calls run one after another, so the settlement includes all charges. */
export interface SessionHold {
  readonly heldRaw: bigint;
  readonly spentRaw: bigint;
  /**
   * Extends the hold by `wantedRaw` when that is above zero; a function is called when its turn comes. `isQuiet` is true for a
   * speculative extension, whose refusal has no consequence.
   */
  extend(wantedRaw: bigint | (() => bigint), isQuiet?: boolean): Promise<Extension>;
  /**
   * Gives back `byRaw` of the unspent amount. Afterwards the hold grows again only by the returned part of a loan. `short`:
   * less than `byRaw` is unspent. `lost`: the session is settled. `taking` runs once the ledger has the request: its own
   * request for the hold `forHoldId` shares the commit, so that no other spend takes the money in between.
   */
  shrink(
    byRaw: bigint,
    forHoldId: string | undefined,
    taking: () => void,
  ): Promise<'given' | 'short' | 'lost'>;
  /** Runs work that lends from this hold or returns money to it. `keptRaw` of the unspent amount is not lent. */
  use<T>(work: ReserveWork<T>, keptRaw: bigint): Promise<T>;
  /** Journals a charge. Resolves to `lost` when the session was settled, here or by another process, without this charge. */
  journal(costRaw: bigint, usage: Readonly<Record<string, number>>): Promise<'written' | 'lost'>;
  /**
   * Books the usage that an upstream reports beyond the possible usage. The agent never pays for it: it is a shortfall of the
   * source, which is not tried for a while when `isImpossible`.
   */
  disown(beyondRaw: bigint, isImpossible: boolean): void;
  /** Settles the hold to its charges, with one charge row, unless the booking leaves the hold open. Safe to call twice. */
  settle(outcome: SettleOutcome): Promise<void>;
}

/** Returns the price of `usage` at this session's source. */
export const sessionPrice = (source: Source, usage: Usage): bigint =>
  priceRaw(usage, source.rates, source.marginBps);

/** Holds `reserveRaw` for a new session, or returns the refusal. `isQuiet`: the caller may request a smaller amount next. */
export async function openSessionHold(
  deps: SessionHoldDeps,
  owner: SessionHoldOwner,
  reserveRaw: bigint,
  isQuiet = false,
): Promise<OpenedSessionHold> {
  const { booking, spender, sessionId, kind, model, source } = owner;
  const opened = await deps.ledger.openSession({
    spender,
    sessionId,
    reserveRaw,
    kind,
    target: booking?.target ?? gatewayTarget(source),
    model,
    destination: booking?.destination ?? destinationOf(model),
    account: booking?.account ?? accountOf(source),
    isQuiet,
  });
  if (opened.kind === 'refused') return opened;
  return { kind: 'opened', sessionHold: new OpenHold(deps, owner, opened.claim) };
}

/** Opens a hold for as many seconds or tokens as possible, up to `most`. Refused when `least` cannot be held. */
export async function openLargestHold(
  deps: SessionHoldDeps,
  owner: SessionHoldOwner,
  size: {
    readonly least: number;
    readonly most: number;
    readonly priceRaw: (count: number) => bigint;
  },
): Promise<OpenedSessionHold> {
  const { verdict } = await holdLargestCount({
    ...size,
    hold: (raw, isQuiet) => openSessionHold(deps, owner, raw, isQuiet),
  });
  return verdict;
}

/** Continues the hold of a session that this process has taken over. */
export const resumeSessionHold = (
  deps: SessionHoldDeps,
  owner: SessionHoldOwner,
  taken: TakenSession,
): SessionHold => new OpenHold(deps, owner, taken.claim, taken);

type Spent = Pick<TakenSession, 'spentRaw' | 'usage' | 'seq'>;

class OpenHold implements SessionHold {
  readonly #deps: SessionHoldDeps;
  readonly #owner: SessionHoldOwner;
  readonly #openedAtMs: number;
  readonly #usage: Record<string, number>;
  #claim: SessionClaim;
  #spentRaw: bigint;
  #seq: number;
  #beyondRaw = 0n;
  #isSettled = false;
  #settlement: Promise<void> | undefined;
  /**
   * Amount of an extension that the ledger did not answer. It may still take effect, so it is repeated before the next
   * extension.
   */
  #unansweredRaw = 0n;
  /** Outcome of the latest call. The next call waits for it, whether it resolves or rejects. */
  #tail: Promise<unknown> = Promise.resolve();

  constructor(
    deps: SessionHoldDeps,
    owner: SessionHoldOwner,
    claim: SessionClaim,
    before: Spent = { spentRaw: 0n, usage: {}, seq: 0 },
  ) {
    this.#deps = deps;
    this.#owner = owner;
    this.#openedAtMs = deps.clock.monotonicMs();
    this.#usage = { ...before.usage };
    this.#claim = claim;
    this.#spentRaw = before.spentRaw;
    this.#seq = before.seq;
  }

  get heldRaw(): bigint {
    return this.#claim.hold.amountRaw;
  }

  get spentRaw(): bigint {
    return this.#spentRaw;
  }

  extend(wantedRaw: bigint | (() => bigint), isQuiet = false): Promise<Extension> {
    return this.#inOrder(async () => {
      if (this.#isSettled) return { kind: 'lost' };
      if (this.#unansweredRaw > 0n) {
        const before = await this.#ask(this.#unansweredRaw, true);
        if (before.kind === 'lost') return before;
      }
      const byRaw = typeof wantedRaw === 'bigint' ? wantedRaw : wantedRaw();
      return byRaw <= 0n ? { kind: 'extended' } : this.#ask(byRaw, isQuiet);
    });
  }

  async #ask(byRaw: bigint, isQuiet: boolean): Promise<Extension> {
    this.#unansweredRaw = byRaw;
    const verdict = await this.#deps.ledger.extend(this.#claim, byRaw, isQuiet);
    this.#unansweredRaw = 0n;
    if (verdict.kind === 'extended') this.#claim = verdict.claim;
    if (verdict.kind === 'lost') this.#isSettled = true;
    return verdict;
  }

  shrink(
    byRaw: bigint,
    forHoldId: string | undefined,
    taking: () => void,
  ): Promise<'given' | 'short' | 'lost'> {
    return this.#inOrder(async () => {
      if (this.#isSettled) return 'lost';
      if (this.#claim.hold.amountRaw - this.#spentRaw < byRaw) return 'short';
      const giving = this.#deps.ledger.shrink(this.#claim, byRaw, forHoldId);
      taking();
      const left = await giving;
      if (left === undefined) {
        this.#isSettled = true;
        return 'lost';
      }
      this.#claim = left;
      return 'given';
    });
  }

  use<T>(work: ReserveWork<T>, keptRaw: bigint): Promise<T> {
    return this.#inOrder(async () => {
      const claim = this.#isSettled ? undefined : this.#claim;
      const used = await work(claim, this.heldRaw - this.#spentRaw - keptRaw);
      if (used.claim === 'lost') this.#isSettled = true;
      else if (used.claim !== undefined) this.#claim = used.claim;
      return used.result;
    });
  }

  journal(costRaw: bigint, bought: Readonly<Record<string, number>>): Promise<'written' | 'lost'> {
    return this.#inOrder(async () => {
      if (this.#isSettled) return 'lost';
      // Counted before the write, so that a charge whose write got no answer is still settled at the end.
      this.#spentRaw += costRaw;
      this.#seq += 1;
      addUsage(this.#usage, bought);
      const entry = { seq: this.#seq, costRaw, usage: bought };
      const verdict = await this.#deps.ledger.journal(this.#claim, [entry]);
      if (verdict === 'lost') this.#isSettled = true;
      return verdict;
    });
  }

  disown(raw: bigint, isImpossible: boolean): void {
    this.#beyondRaw += raw;
    const { breaker, log } = this.#deps;
    if (isImpossible && breaker) distrust({ log, breaker }, this.#owner.source);
  }

  settle(outcome: SettleOutcome): Promise<void> {
    this.#settlement ??= this.#inOrder(async () => {
      if (this.#isSettled) return;
      const left = this.#owner.booking?.leftOpen?.(outcome.reason);
      if (left !== undefined) {
        await this.#leaveOpen(left, outcome);
        return;
      }
      await closeClaim(this.#deps, this.#owner, {
        claim: this.#claim,
        spentRaw: this.#spentRaw,
        beyondRaw: this.#beyondRaw,
        usage: this.#usage,
        openedAtMs: this.#openedAtMs,
        ...outcome,
      });
      this.#isSettled = true;
    }).catch((error: unknown) => {
      unsettled(this.#deps.log, this.#owner, error);
      this.#owner.booking?.undecided(outcome.reason);
    });
    return this.#settlement;
  }

  /**
   * Leaves the hold open for another worker to settle. Journals the final usage; this process adds no charges after that entry.
   */
  async #leaveOpen(
    usage: Readonly<Record<string, number>>,
    { reason, summary }: SettleOutcome,
  ): Promise<void> {
    summary?.();
    const entry = { seq: this.#seq + 1, costRaw: 0n, usage };
    const verdict = await this.#deps.ledger.journal(this.#claim, [entry]);
    this.#isSettled = true;
    if (verdict !== 'lost') this.#owner.booking?.undecided(reason);
  }

  #inOrder<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#tail.then(work);
    this.#tail = result.catch(() => {});
    return result;
  }
}

/** Logs that a settlement is unknown. It may still take effect; otherwise a reaper settles the session from its journal. */
function unsettled(log: Log, { sessionId }: SessionHoldOwner, err: unknown): void {
  log.error({ err, sessionId }, 'session is not known to be settled');
}
