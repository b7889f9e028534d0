import { assert } from '../kernel/assert.ts';

/**
 * Prices of the phone service in raw USDC, margin included. A call keeps the rate card that was in force when it was answered.
 */
export type RateCard = {
  /** Price of one number for a month. */
  readonly rentalRaw: bigint;
  /** A minute of the line, in each direction. */
  readonly inboundMinuteRaw: bigint;
  readonly outboundMinuteRaw: bigint;
  /**
   * Surcharges of the carrier: for a minute of media stream, for a minute of recording, and for each answering-machine
   * detection.
   */
  readonly streamMinuteRaw: bigint;
  readonly recordingMinuteRaw: bigint;
  readonly machineDetectionRaw: bigint;
  /** A minute of recognised speech. */
  readonly sttMinuteRaw: bigint;
  /** A thousand spoken characters. */
  readonly ttsThousandRaw: bigint;
  /** Seconds of a step in which the line is counted. */
  readonly incrementSeconds: 1 | 6 | 60;
};

/** Default prices, as published. */
export const RATE_CARD: RateCard = {
  rentalRaw: 2_000_000n,
  inboundMinuteRaw: 8_900n,
  outboundMinuteRaw: 14_700n,
  streamMinuteRaw: 0n,
  recordingMinuteRaw: 0n,
  machineDetectionRaw: 0n,
  sttMinuteRaw: 4_500n,
  ttsThousandRaw: 52_500n,
  incrementSeconds: 1,
};

/** Billed usage of a call up to now. */
export type CallUse = {
  readonly lineSeconds: number;
  readonly sttSeconds: number;
  readonly ttsCharacters: number;
  /** Seconds of the line that were recorded. */
  readonly recordedSeconds: number;
};

/** Properties of a call that change the price of its line. */
export type LineKind = {
  readonly direction: 'inbound' | 'outbound';
  readonly detectsMachine: boolean;
};

export type LegCosts = {
  readonly transportRaw: bigint;
  readonly sttRaw: bigint;
  readonly ttsRaw: bigint;
};

/** Returns the price of a minute of a line. */
const lineMinuteRaw = (card: RateCard, { direction }: Pick<LineKind, 'direction'>): bigint =>
  (direction === 'inbound' ? card.inboundMinuteRaw : card.outboundMinuteRaw) + card.streamMinuteRaw;

const MS = 1_000n;
const MINUTE_MS = 60n * MS;

const ceilDiv = (a: bigint, b: bigint): bigint => (a + b - 1n) / b;
const msOf = (seconds: number): bigint => BigInt(Math.round(seconds * 1_000));

/** Returns the billed seconds of a line: whole steps, and 0 for a call of 0 seconds. */
const billedSeconds = (
  seconds: number,
  { incrementSeconds: step }: Pick<RateCard, 'incrementSeconds'>,
): number => Math.ceil(Math.max(0, seconds) / step) * step;

/**
 * Returns the cost of a call's legs, from its use as a whole. Each leg is exact and rounded up once, so the cost of a part of a
 * call is the cost up to its end less the cost up to its begin.
 */
export function legCosts(card: RateCard, line: LineKind, use: CallUse): LegCosts {
  assert(use.ttsCharacters >= 0 && use.sttSeconds >= 0, 'use is not negative');
  const seconds = billedSeconds(use.lineSeconds, card);
  const recorded = billedSeconds(use.recordedSeconds, card);
  const lineRaw =
    lineMinuteRaw(card, line) * BigInt(seconds) + card.recordingMinuteRaw * BigInt(recorded);
  const detectionRaw = line.detectsMachine && seconds > 0 ? card.machineDetectionRaw : 0n;
  return {
    transportRaw: ceilDiv(lineRaw, 60n) + detectionRaw,
    sttRaw: ceilDiv(card.sttMinuteRaw * msOf(use.sttSeconds), MINUTE_MS),
    ttsRaw: ceilDiv(card.ttsThousandRaw * BigInt(Math.ceil(use.ttsCharacters)), 1_000n),
  };
}

/** Returns the seconds of a line that `raw` pays for, in whole steps; infinite for a line that costs nothing. */
export function secondsWithin(
  card: RateCard,
  line: Pick<LineKind, 'direction'>,
  raw: bigint,
): number {
  const minuteRaw = lineMinuteRaw(card, line);
  if (minuteRaw === 0n) return Number.POSITIVE_INFINITY;
  const seconds = raw > 0n ? Number((raw * 60n) / minuteRaw) : 0;
  return seconds - (seconds % card.incrementSeconds);
}

export const sumOf = ({ transportRaw, sttRaw, ttsRaw }: LegCosts): bigint =>
  transportRaw + sttRaw + ttsRaw;

/** Returns the cost of one minute in which both sides speak: a call must be able to pay this before it is placed. */
export const minuteRaw = (card: RateCard, line: LineKind, isRecorded: boolean): bigint =>
  sumOf(
    legCosts(card, line, {
      lineSeconds: 60,
      sttSeconds: 60,
      ttsCharacters: 0,
      recordedSeconds: isRecorded ? 60 : 0,
    }),
  );
