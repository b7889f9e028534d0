import { LIMITS } from '../../kernel/limits.ts';
import type { Usage } from '../../kernel/price.ts';
import { holdLargestCount, largestFitting } from '../../ledger/rules/hold-what-fits.ts';
import type { HoldRefusal } from '../../ledger/rules/requests.ts';
import type { Source } from '../../models/catalogue/catalogue.ts';
import { isImpossible } from '../../models/purchase/believe.ts';
import {
  type OpenedSessionHold,
  openSessionHold,
  type SessionHold,
  type SessionHoldDeps,
  type SessionHoldOwner,
  sessionPrice,
} from './session-hold.ts';
import { AudioBacklog } from './voice-backlog.ts';
import { AudioMeter } from './voice-meter.ts';

/** What a stream buys once, with the first of its audio. */
const onceOf = ({ rates }: Source): Usage => (rates.request === undefined ? {} : { request: 1 });

const SLICE: number = LIMITS.transcriptionReserveSeconds;

/** What a first slice costs; all later ones cost no more. */
export const firstSliceRaw = (source: Source, seconds = SLICE): bigint =>
  sessionPrice(source, { audio_second: seconds, ...onceOf(source) });

const sliceRaw = (source: Source, seconds: number): bigint =>
  sessionPrice(source, { audio_second: seconds });

/**
 * Opens the hold of a stream with its first slice, or with as much of one as the balance and every cap leave, a second at
 * least.
 */
export async function openStreamHold(
  deps: SessionHoldDeps,
  owner: SessionHoldOwner,
): Promise<OpenedSessionHold> {
  const { verdict } = await holdLargestCount({
    least: 1,
    most: SLICE,
    priceRaw: (seconds) => firstSliceRaw(owner.source, seconds),
    hold: (raw, isQuiet) => openSessionHold(deps, owner, raw, isQuiet),
  });
  return verdict;
}

export type PaidAudioOptions = {
  readonly sessionHold: SessionHold;
  readonly source: Source;
  readonly bytesPerSecond: number;
  /** Audio that is held for; it is billed as far as `told` says. The bytes are a view that may be reused after the call. */
  readonly hear: (bytes: Uint8Array) => void;
  /** Less than half a slice is left: `extend` should be called, off the audio path. */
  readonly low: () => void;
  /** The last slice is used up and there is no further one. */
  readonly spent: (refusal: HoldRefusal) => void;
  /** The ledger cannot say whether there is a further slice. */
  readonly unheld: (error: unknown) => void;
  /** Another process has settled this session. */
  readonly lost: () => void;
  /** What was let through cannot be written down, or what the ledger's answer set off went wrong. */
  readonly away: (error: unknown) => void;
  /** The same after a stop. It ends nothing: what was bought is settled all the same. */
  readonly awayLate: (error: unknown) => void;
};

/**
 * Lets through exactly the audio that the session's hold covers. What comes while the next slice is
 * being held waits in order; the pusher bounds it.
 */
export class PaidAudio {
  readonly #options: PaidAudioOptions;
  readonly #meter: AudioMeter;
  readonly #backlog = new AudioBacklog();
  #isExtending = false;
  /** The balance had no further slice when it was asked. It is asked again when the last is used up. */
  #isRefused = false;
  #isStopped = false;
  /** How much of what had to wait has been let through. */
  #passedBytes = 0;
  #cameBytes = 0;
  #letThroughBytes = 0;
  /** What an upstream has told of beyond it, by its price. */
  #disownedRaw = 0n;
  #waiting: { readonly behindBytes: number; readonly callback: () => void }[] = [];

  constructor(options: PaidAudioOptions) {
    this.#options = options;
    const { sessionHold, source } = options;
    const { heldRaw } = sessionHold;
    const isHeld = (seconds: number) => firstSliceRaw(source, seconds) <= heldRaw;
    this.#meter = new AudioMeter({
      bytesPerSecond: options.bytesPerSecond,
      sliceSeconds: SLICE,
      heldSeconds: largestFitting({ least: 1, most: SLICE }, isHeld) ?? 0,
      price: (usage) => sessionPrice(options.source, usage),
      once: onceOf(options.source),
    });
  }

  /** What is billed, or will be. */
  get seconds(): number {
    return this.#meter.seconds;
  }

  /** What came and is not let through any more. */
  get droppedSeconds(): number {
    const bytes = this.#isStopped ? this.#cameBytes - this.#letThroughBytes : 0;
    return bytes / this.#options.bytesPerSecond;
  }

  push(bytes: Uint8Array): void {
    if (this.#isStopped) return;
    this.#cameBytes += bytes.length;
    const rest = this.#backlog.bytes > 0 ? bytes : this.#take(bytes);
    // Hearing it may have ended the stream.
    if (this.#isStopped) return;
    this.#backlog.push(rest);
    if (this.#backlog.bytes > 0) this.extend();
  }

  /** Holds one more slice, or what fits of it, unless that is under way or was refused while there is still some left. */
  extend(): void {
    if (this.#isStopped || this.#isExtending) return;
    if (this.#isRefused && !this.#meter.isSpent) return;
    const { sessionHold, source } = this.#options;
    const isLast = this.#meter.isSpent;
    this.#isExtending = true;
    holdLargestCount({
      least: 1,
      most: SLICE,
      // While there is some left, nothing is lost by a refusal.
      isNeeded: isLast,
      priceRaw: (seconds) => sliceRaw(source, seconds),
      hold: (raw, isQuiet) => sessionHold.extend(raw, isQuiet),
    })
      .then(
        ({ verdict, wanted }) => {
          this.#isExtending = false;
          if (this.#isStopped) return;
          if (verdict.kind === 'lost') this.#options.lost();
          else if (verdict.kind === 'extended') this.#extended(wanted);
          else this.#refused(verdict.refusal, isLast);
        },
        (error: unknown) => this.#unheld(error),
      )
      .catch((error: unknown) => this.#away(error));
  }

  /** So much was heard of what was let through. More than that counts as all of it, and is nothing that anybody pays. */
  told(seconds: number): void {
    if (Number.isFinite(seconds)) this.#disown(seconds);
    this.#meter.hearUpTo(seconds);
    if (this.#meter.sliceIsDue) this.journal();
  }

  /**
   * Calls back once, when everything pushed so far is let through and nothing that comes later; never after a stop. The
   * caller bounds how often.
   */
  whenHeard(callback: () => void): void {
    if (this.#backlog.bytes === 0) callback();
    else this.#waiting.push({ behindBytes: this.#passedBytes + this.#backlog.bytes, callback });
  }

  /** Lets no more through and drops what waits, which is not billed. */
  stop(): void {
    this.#isStopped = true;
    this.#backlog.clear();
    this.#waiting = [];
  }

  /** Writes what was heard since the last time. Only the settlement waits for it. */
  journal(): void {
    const { lost, sessionHold } = this.#options;
    const bill = this.#meter.takeBill();
    if (bill === undefined) return;
    sessionHold
      .journal(bill.costRaw, bill.usage)
      .then((verdict) => {
        if (verdict === 'lost') lost();
      })
      .catch((error: unknown) => this.#away(error));
  }

  #disown(toldSeconds: number): void {
    const { bytesPerSecond, sessionHold, source } = this.#options;
    const sentSeconds = this.#letThroughBytes / bytesPerSecond;
    if (toldSeconds <= sentSeconds + LIMITS.listenRoundingSeconds) return;
    const priceOf = (seconds: number) => sessionPrice(source, { audio_second: seconds });
    const beyondRaw = priceOf(toldSeconds) - priceOf(sentSeconds) - this.#disownedRaw;
    if (beyondRaw <= 0n) return;
    this.#disownedRaw += beyondRaw;
    sessionHold.disown(beyondRaw, isImpossible(toldSeconds, sentSeconds));
  }

  #unheld(error: unknown): void {
    const { awayLate, unheld } = this.#options;
    if (this.#isStopped) awayLate(error);
    else unheld(error);
  }

  #away(error: unknown): void {
    const { away, awayLate } = this.#options;
    if (this.#isStopped) awayLate(error);
    else away(error);
  }

  /** Lets through what is paid for and answers the rest. */
  #take(bytes: Uint8Array): Uint8Array {
    const admitted = this.#meter.admit(bytes.length);
    this.#letThroughBytes += admitted;
    if (admitted > 0) this.#options.hear(bytes.subarray(0, admitted));
    if (this.#meter.isLow && !this.#isExtending && !this.#isRefused) this.#options.low();
    return bytes.subarray(admitted);
  }

  #extended(seconds: number): void {
    this.#isRefused = false;
    this.#meter.grant(seconds);
    while (this.#backlog.bytes > 0 && !this.#meter.isSpent) this.#pass();
    if (this.#backlog.bytes > 0) this.extend();
  }

  /** Lets through what is paid for of the oldest block, as far as the first who waits. */
  #pass(): void {
    const block = this.#backlog.shift();
    const [first] = this.#waiting;
    const next = first ? block.subarray(0, first.behindBytes - this.#passedBytes) : block;
    const passed = next.length - this.#take(next).length;
    // Hearing it may have ended the stream.
    if (this.#isStopped) return;
    this.#backlog.unshift(block.subarray(passed));
    this.#passedBytes += passed;
    while (this.#waiting[0]?.behindBytes === this.#passedBytes) this.#waiting.shift()?.callback();
  }

  #refused(refusal: HoldRefusal, isLast: boolean): void {
    this.#isRefused = true;
    if (isLast || !isShort(refusal)) this.#options.spent(refusal);
    else if (this.#backlog.bytes > 0) this.extend();
  }
}

/** There is less money than was asked for, so that there may still be enough for what waits. */
const isShort = (refusal: HoldRefusal): boolean =>
  refusal.reason === 'insufficient_balance' ||
  (refusal.reason === 'cap_exceeded' && !refusal.suspended);
