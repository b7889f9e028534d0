import type { Usage } from '../../kernel/price.ts';
import { holdLargestCount, largestFitting } from '../../ledger/rules/hold-what-fits.ts';
import type { HoldRefusal } from '../../ledger/rules/requests.ts';
import type { Source } from '../../models/catalogue/catalogue.ts';
import { MODEL_LIMITS } from '../../models/limits.ts';
import { isImpossible } from '../../models/purchase/clamp-usage.ts';
import { VOICE_LIMITS } from '../limits.ts';
import {
  type OpenedSessionHold,
  openLargestHold,
  type SessionHold,
  type SessionHoldDeps,
  type SessionHoldOwner,
  sessionPrice,
} from './session-hold.ts';
import { AudioBacklog } from './voice-backlog.ts';
import { AudioMeter } from './voice-meter.ts';

/** Returns the usage that a stream buys once, with its first audio. */
const onceOf = ({ rates }: Source): Usage => (rates.request === undefined ? {} : { request: 1 });

const SLICE: number = VOICE_LIMITS.transcription.reserveSeconds;

/** Returns the price of the first slice of a stream. A later slice costs at most as much. */
export const firstSliceRaw = (source: Source, seconds = SLICE): bigint =>
  sessionPrice(source, { audio_second: seconds, ...onceOf(source) });

const sliceRaw = (source: Source, seconds: number): bigint =>
  sessionPrice(source, { audio_second: seconds });

/**
 * Opens the hold of a stream: for a whole slice, or for as many seconds as the balance and every cap allow, at least one
 * second.
 */
export const openStreamHold = (
  deps: SessionHoldDeps,
  owner: SessionHoldOwner,
): Promise<OpenedSessionHold> =>
  openLargestHold(deps, owner, {
    least: 1,
    most: SLICE,
    priceRaw: (seconds) => firstSliceRaw(owner.source, seconds),
  });

export type PaidAudioOptions = {
  readonly sessionHold: SessionHold;
  readonly source: Source;
  readonly bytesPerSecond: number;
  /** Takes paid audio; `heardUpTo` reports how much of it is billed. The bytes are a view that is reused after the call. */
  readonly hear: (bytes: Uint8Array) => void;
  /** Called when less than half a slice is left. `extend` should then be called, off the audio path. */
  readonly low: () => void;
  /** Called when the ledger refuses a further slice and the last slice is used up or a smaller slice would be refused, too. */
  readonly spent: (refusal: HoldRefusal) => void;
  /** Called when the ledger did not answer the request for a further slice. */
  readonly unheld: (error: unknown) => void;
  /** Called when another process has settled this session. */
  readonly lost: () => void;
  /** Called when the journal could not be written, or handling the ledger's answer failed. */
  readonly away: (error: unknown) => void;
  /** Called instead of `away` after `stop`. The charges are settled nevertheless. */
  readonly awayLate: (error: unknown) => void;
};

/**
 * Passes on exactly the audio that the session's hold covers. Audio that arrives while the next slice is being held is queued
 * in order; the caller bounds the queue.
 */
export class PaidAudio {
  readonly #options: PaidAudioOptions;
  readonly #meter: AudioMeter;
  readonly #backlog = new AudioBacklog();
  #isExtending = false;
  /** True after the ledger refused a further slice. The next request for a slice follows when the last slice is used up. */
  #isRefused = false;
  #isStopped = false;
  /** Number of backlogged bytes that were passed on. */
  #passedBytes = 0;
  #cameBytes = 0;
  #letThroughBytes = 0;
  /** Price of the usage that the upstream reported beyond the audio that was sent. */
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

  /** Seconds of audio that are billed or will be billed. */
  get seconds(): number {
    return this.#meter.seconds;
  }

  /** Seconds of audio that arrived and were dropped. */
  get droppedSeconds(): number {
    const bytes = this.#isStopped ? this.#cameBytes - this.#letThroughBytes : 0;
    return bytes / this.#options.bytesPerSecond;
  }

  push(bytes: Uint8Array): void {
    if (this.#isStopped) return;
    this.#cameBytes += bytes.length;
    const rest = this.#backlog.bytes > 0 ? bytes : this.#take(bytes);
    // `hear` may have ended the stream.
    if (this.#isStopped) return;
    this.#backlog.push(rest);
    if (this.#backlog.bytes > 0) this.extend();
  }

  /**
   * Holds one more slice, or as many seconds of it as the balance and every cap allow. Does nothing while a request is in
   * progress, or after a refusal until the last slice is used up.
   */
  extend(): void {
    if (this.#isStopped || this.#isExtending) return;
    if (this.#isRefused && !this.#meter.isSpent) return;
    const { sessionHold, source } = this.#options;
    const isLast = this.#meter.isSpent;
    this.#isExtending = true;
    holdLargestCount({
      least: 1,
      most: SLICE,
      // A refusal has no consequence while the last slice lasts.
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

  /** Counts audio as heard up to `seconds`. A report beyond the audio passed on is not charged. */
  heardUpTo(seconds: number): void {
    if (Number.isFinite(seconds)) this.#disown(seconds);
    this.#meter.hearUpTo(seconds);
    if (this.#meter.sliceIsDue) this.journal();
  }

  /**
   * Calls `callback` after all audio up to now and before any later audio; never after a stop. The caller bounds the number of
   * calls.
   */
  whenHeard(callback: () => void): void {
    if (this.#backlog.bytes === 0) callback();
    else this.#waiting.push({ behindBytes: this.#passedBytes + this.#backlog.bytes, callback });
  }

  /** Drops the queued audio, which is not billed, and passes no more audio on. */
  stop(): void {
    this.#isStopped = true;
    this.#backlog.clear();
    this.#waiting = [];
  }

  /** Journals the audio heard since the last call. Only the settlement waits for the journal. */
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

  #disown(reportedSeconds: number): void {
    const { bytesPerSecond, sessionHold, source } = this.#options;
    const sentSeconds = this.#letThroughBytes / bytesPerSecond;
    if (reportedSeconds <= sentSeconds + VOICE_LIMITS.listen.roundingSeconds) return;
    const priceOf = (seconds: number) => sessionPrice(source, { audio_second: seconds });
    // A report may contain any number. Prices are exact only up to the longest audio that an upstream transcribes.
    const pricedSeconds = Math.min(reportedSeconds, MODEL_LIMITS.usage.audioSeconds);
    const beyondRaw = priceOf(pricedSeconds) - priceOf(sentSeconds) - this.#disownedRaw;
    if (beyondRaw <= 0n) return;
    this.#disownedRaw += beyondRaw;
    sessionHold.disown(beyondRaw, isImpossible(reportedSeconds, sentSeconds));
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

  /** Passes on the bytes that are paid for, and returns the rest. */
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

  /** Lets paid bytes of the oldest block through, up to the first waiting callback. */
  #pass(): void {
    const block = this.#backlog.shift();
    const [first] = this.#waiting;
    const next = first ? block.subarray(0, first.behindBytes - this.#passedBytes) : block;
    const passed = next.length - this.#take(next).length;
    // `hear` may have ended the stream.
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

/**
 * Returns true when the amount was too high for the balance or for a cap that does not suspend the agent. A smaller amount may
 * still fit.
 */
const isShort = (refusal: HoldRefusal): boolean =>
  refusal.reason === 'insufficient_balance' ||
  (refusal.reason === 'cap_exceeded' && !refusal.suspended);
