import { MACHINE_LIMITS } from '../../../machines/limits.ts';
import type { Usage } from '../../kernel/price.ts';
import { largestFitting } from '../../ledger/rules/hold-what-fits.ts';
import type { Source } from '../../models/catalogue/catalogue.ts';
import { MODEL_LIMITS } from '../../models/limits.ts';
import { clampSeconds, isImpossible, mostSeconds } from '../../models/purchase/clamp-usage.ts';
import {
  type OpenedSessionHold,
  openLargestHold,
  type SessionHoldDeps,
  type SessionHoldOwner,
  sessionPrice,
} from '../../voice/billing/session-hold.ts';
import {
  extendTimeHold,
  journalCharge,
  type RelayMeterDeps,
  repeatCheck,
} from '../../voice/relay/relay-hold.ts';
import { LIVE_LIMITS } from './limits.ts';

const MOST_SECONDS = LIVE_LIMITS.heldSlices * LIVE_LIMITS.sliceSeconds;
/** Seconds until the next check, the ledger's answer to it and the session's end at the upstream, with its rounding. */
const LEAST_SECONDS =
  LIVE_LIMITS.checkMs / 1_000 +
  1 +
  MACHINE_LIMITS.relay.finishMs / 1_000 +
  MODEL_LIMITS.usage.liveRoundingSeconds;

/** Returns the usage of `seconds` in the units that the source has rates for. */
const usageOf = ({ rates }: Source, seconds: number): Usage => ({
  ...(rates.request !== undefined && { request: 1 }),
  ...(rates.audio_second !== undefined && { audio_second: seconds }),
});

const secondsRaw = (source: Source, seconds: number): bigint =>
  sessionPrice(source, usageOf(source, seconds));

/**
 * Returns the amount held for a session that is billed by the upstream's count of seconds; undefined when the source has no
 * such rate.
 */
export const heldSecondsRaw = (source: Source): bigint | undefined =>
  source.rates.audio_second === undefined && source.rates.request === undefined
    ? undefined
    : secondsRaw(source, MOST_SECONDS);

/** Holds `MOST_SECONDS`, or fewer when the balance or a cap allows no more. Refused when `LEAST_SECONDS` cannot be held. */
export const openSecondsHold = (
  deps: SessionHoldDeps,
  owner: SessionHoldOwner,
): Promise<OpenedSessionHold> =>
  openLargestHold(deps, owner, {
    least: LEAST_SECONDS,
    most: MOST_SECONDS,
    priceRaw: (seconds) => secondsRaw(owner.source, seconds),
  });

export type SecondsMeterDeps = Omit<RelayMeterDeps, 'model'>;

export type BilledSeconds = { readonly seconds: number; readonly costRaw: bigint };

/**
 * Bills a session by the cumulative seconds that its upstream reports. A smaller count than before changes nothing. A count
 * above the elapsed time is billed up to the elapsed time, and the excess is booked as the source's. Compares the hold with the
 * time every `LIVE_LIMITS.checkMs`, and ends the session before the hold is used up.
 */
export class SecondsMeter {
  readonly #deps: SecondsMeterDeps;
  readonly #openedAtMs: number;
  /** Time at which the upstream had started the session, on the monotonic clock. */
  #startedAtMs: number | undefined;
  #billed: number | undefined;
  /** The part of the billed usage whose journal entry is known to be written. */
  #journaled: BilledSeconds = { seconds: 0, costRaw: 0n };
  /** The latest journal write. Writes are answered in order. */
  #lastEntry: Promise<void> = Promise.resolve();
  #mostReported = 0;
  #isImpossible = false;
  readonly #stopChecks: () => void;
  #isOver = false;
  #isLost = false;

  constructor(deps: SecondsMeterDeps) {
    this.#deps = deps;
    this.#openedAtMs = deps.clock.monotonicMs();
    this.#stopChecks = repeatCheck(deps, LIVE_LIMITS.checkMs, () => this.#check());
  }

  /**
   * Returns the billed seconds and their cost in raw units. When another process has settled the session, returns the amounts
   * that were in the journal at that time.
   */
  get billed(): BilledSeconds {
    if (this.#isLost) return this.#journaled;
    return { seconds: this.#billed ?? 0, costRaw: this.#costRaw };
  }

  /** Resolves, and never rejects, once the ledger has answered all journal writes. */
  get entered(): Promise<void> {
    return this.#lastEntry;
  }

  /** Records that the upstream has started the session. */
  started(): void {
    this.#startedAtMs ??= this.#deps.clock.monotonicMs();
    void this.#bill(0);
  }

  /**
   * Bills a report of `seconds` in total. Resolves, and never rejects, once the ledger has answered to this report and all
   * earlier reports.
   */
  report(seconds: number): Promise<void> {
    if (this.#isOver) return this.#lastEntry;
    this.#startedAtMs ??= this.#deps.clock.monotonicMs();
    const passed = this.#passedSince(this.#openedAtMs);
    this.#mostReported = Math.max(this.#mostReported, seconds);
    this.#isImpossible ||= isImpossible(seconds, mostSeconds(passed));
    return this.#bill(clampSeconds(seconds, passed));
  }

  /**
   * Ends the billing after the last report. With `atMs`, bills the time up to `atMs` when the started session reported less;
   * without it, bills what was reported. Resolves, and never rejects, once the ledger has answered all journal writes.
   */
  end(atMs?: number): Promise<void> {
    if (this.#isOver) return this.#lastEntry;
    this.#isOver = true;
    const { owner, sessionHold } = this.#deps;
    this.#stopChecks();
    const startedAtMs = this.#startedAtMs;
    const billed =
      atMs === undefined || startedAtMs === undefined
        ? this.#lastEntry
        : this.#bill(Math.max(0, atMs - startedAtMs) / 1_000);
    const beyondRaw = secondsRaw(owner.source, this.#mostReported) - this.#costRaw;
    if (this.#mostReported > (this.#billed ?? 0) && beyondRaw > 0n) {
      sessionHold.disown(beyondRaw, this.#isImpossible);
    }
    return billed;
  }

  get #costRaw(): bigint {
    return this.#billed === undefined ? 0n : secondsRaw(this.#deps.owner.source, this.#billed);
  }

  /** Returns the seconds since `ms`, rounded to the millisecond. */
  #passedSince(ms: number): number {
    return Math.round(this.#deps.clock.monotonicMs() - ms) / 1_000;
  }

  /** Journals the cost of `exact` seconds in total, less the cost that was billed before. */
  #bill(exact: number): Promise<void> {
    const seconds = this.#withinHold(Math.round(exact * 1_000));
    const before = this.#billed;
    if (before !== undefined && seconds <= before) return this.#lastEntry;
    const beforeRaw = this.#costRaw;
    this.#billed = seconds;
    const { source } = this.#deps.owner;
    const added = Math.round((seconds - (before ?? 0)) * 1_000) / 1_000;
    const { request, ...usage } = usageOf(source, added) as Record<string, number>;
    const isFirst = before === undefined && request !== undefined;
    const bought = { ...usage, ...(isFirst && { request: 1 }) };
    const costRaw = this.#costRaw - beforeRaw;
    if (costRaw === 0n && added === 0) return this.#lastEntry;
    const billed = this.billed;
    this.#lastEntry = journalCharge(this.#deps, costRaw, bought).then((verdict) => {
      if (verdict === 'written') this.#journaled = billed;
      this.#isLost ||= verdict === 'lost';
    });
    return this.#lastEntry;
  }

  /** Returns the part of `ms` that the hold covers, in seconds. It is less than `ms` only in a process that is late. */
  #withinHold(ms: number): number {
    const { owner, sessionHold } = this.#deps;
    const fits = (part: number) => secondsRaw(owner.source, part / 1_000) <= sessionHold.heldRaw;
    return (fits(ms) ? ms : (largestFitting({ least: 0, most: ms }, fits) ?? 0)) / 1_000;
  }

  /** Tops the hold up to `MOST_SECONDS` from now on when less than half of that is held. */
  async #check(): Promise<void> {
    const { owner, sessionHold } = this.#deps;
    const passed = this.#passedSince(this.#openedAtMs);
    const missingRaw = (seconds: number) =>
      secondsRaw(owner.source, passed + seconds) - sessionHold.heldRaw;
    if (missingRaw(MOST_SECONDS / 2) <= 0n) return;
    await extendTimeHold(this.#deps, { least: LEAST_SECONDS, most: MOST_SECONDS, missingRaw });
  }
}
