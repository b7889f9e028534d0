import { toMillis } from '../../kernel/price.ts';
import {
  type CallUse,
  type LegCosts,
  type LineKind,
  legCosts,
  type RateCard,
  sumOf,
} from '../rate-card.ts';

/** An amount to charge to a call's hold, and the usage that it pays for. */
export type MeteredCharge = {
  readonly costRaw: bigint;
  readonly usage: Readonly<Record<string, number>>;
};

/** Unit names of a call's usage in the journal. */
const CALL_UNITS = {
  line: 'line_second',
  stt: 'stt_second',
  tts: 'tts_character',
  recording: 'recording_second',
} as const;

/** The last journal entry of a transferred call, written once its process has billed the conversation. */
export const TRANSFERRED_USAGE = { transferred: 1 } as const;

/** Returns true when a journal has `TRANSFERRED_USAGE`: it then counts all that the conversation has used. */
export const isLeftToCarrier = ({ transferred = 0 }: Readonly<Record<string, number>>): boolean =>
  transferred > 0;

/** Returns the use of a call that its journal has counted. */
export const useOfJournal = (usage: Readonly<Record<string, number>>): CallUse => ({
  lineSeconds: usage[CALL_UNITS.line] ?? 0,
  sttSeconds: usage[CALL_UNITS.stt] ?? 0,
  ttsCharacters: usage[CALL_UNITS.tts] ?? 0,
  recordedSeconds: usage[CALL_UNITS.recording] ?? 0,
});

/** Recorded part of a line, in seconds since the line began. Without `toSeconds` it lasts to the end of the line. */
export type RecordedSpan = {
  readonly fromSeconds: number;
  readonly toSeconds: number | undefined;
};

/** Returns the recorded seconds of a line that is `lineSeconds` old. */
export const secondsRecorded = (span: RecordedSpan | undefined, lineSeconds: number): number =>
  span === undefined
    ? 0
    : Math.max(0, Math.min(lineSeconds, span.toSeconds ?? lineSeconds) - span.fromSeconds);

const UNUSED: CallUse = { lineSeconds: 0, sttSeconds: 0, ttsCharacters: 0, recordedSeconds: 0 };

/**
 * Meters the legs of one call. Each charge is the price of the total usage less the charges before, so that the charges of a
 * call sum to the price of its total usage, with each leg rounded up once.
 */
export class CallMeter {
  readonly #card: RateCard;
  readonly #line: LineKind;
  readonly #expectsRecording: boolean;
  #recorded: RecordedSpan | undefined;
  #use: CallUse;

  constructor(options: {
    readonly card: RateCard;
    readonly line: LineKind;
    /** The use that another process has charged already. */
    readonly before?: CallUse;
    /** True when the call will be recorded, so that estimates of its cost include the recording. */
    readonly expectsRecording?: boolean;
    /** The part of the line that another process has had recorded. */
    readonly recorded?: RecordedSpan | undefined;
  }) {
    this.#card = options.card;
    this.#line = options.line;
    this.#expectsRecording = options.expectsRecording ?? false;
    this.#recorded = options.recorded;
    this.#use = options.before ?? UNUSED;
  }

  get use(): CallUse {
    return this.#use;
  }

  /** Cost of all charged use, by leg. */
  get legs(): LegCosts {
    return this.#legsOf(this.#use);
  }

  /** Notes that the carrier records from this second of the line on. */
  recordingBegan(lineSeconds: number): void {
    this.#recorded ??= { fromSeconds: lineSeconds, toSeconds: undefined };
  }

  /** Notes that the carrier's recording has ended, or will never begin. */
  recordingEnded(lineSeconds: number): void {
    const { fromSeconds = lineSeconds, toSeconds = lineSeconds } = this.#recorded ?? {};
    this.#recorded = { fromSeconds, toSeconds };
  }

  /** Charges the use since the last charge: the line up to the age `lineSeconds`, and the speech in `used`. */
  charge(used: {
    readonly lineSeconds: number;
    readonly sttSeconds?: number;
    readonly ttsCharacters?: number;
  }): MeteredCharge {
    const before = this.#use;
    // The clock of a process that takes over a call may be behind the clock of the process before.
    const lineSeconds = Math.max(before.lineSeconds, used.lineSeconds);
    // The price is based on the rounded usage in the journal, so that a process that takes over the call continues with the
    // same usage.
    const after: CallUse = {
      lineSeconds: toMillis(lineSeconds),
      sttSeconds: toMillis(before.sttSeconds + (used.sttSeconds ?? 0)),
      ttsCharacters: toMillis(before.ttsCharacters + (used.ttsCharacters ?? 0)),
      recordedSeconds: toMillis(
        Math.max(before.recordedSeconds, secondsRecorded(this.#recorded, lineSeconds)),
      ),
    };
    this.#use = after;
    const usage: Record<string, number> = {
      [CALL_UNITS.line]: toMillis(after.lineSeconds - before.lineSeconds),
      [CALL_UNITS.stt]: toMillis(after.sttSeconds - before.sttSeconds),
      [CALL_UNITS.tts]: toMillis(after.ttsCharacters - before.ttsCharacters),
    };
    const recorded = toMillis(after.recordedSeconds - before.recordedSeconds);
    if (recorded > 0) usage[CALL_UNITS.recording] = recorded;
    return { costRaw: sumOf(this.#legsOf(after)) - sumOf(this.#legsOf(before)), usage };
  }

  /** Returns the cost of the line up to the age `lineSeconds` and of the added speech in `more`. Charges nothing. */
  quoteRaw(more: Omit<CallUse, 'recordedSeconds'>): bigint {
    const lineSeconds = Math.max(this.#use.lineSeconds, more.lineSeconds);
    const fromNow = { fromSeconds: this.#use.lineSeconds, toSeconds: undefined };
    const span = this.#recorded ?? (this.#expectsRecording ? fromNow : undefined);
    const after: CallUse = {
      lineSeconds,
      sttSeconds: this.#use.sttSeconds + more.sttSeconds,
      ttsCharacters: this.#use.ttsCharacters + more.ttsCharacters,
      recordedSeconds: Math.max(this.#use.recordedSeconds, secondsRecorded(span, lineSeconds)),
    };
    return sumOf(this.#legsOf(after)) - sumOf(this.#legsOf(this.#use));
  }

  #legsOf(use: CallUse): LegCosts {
    return legCosts(this.#card, this.#line, use);
  }
}
