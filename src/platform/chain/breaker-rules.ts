import type { FeedReading } from './feeds.ts';
import { CHAIN_LIMITS } from './limits.ts';
import type { Block } from './rpc-answers.ts';

/** Reasons why paid requests are refused, with the numbers of `GET /v1/status`. */
export const BREAKER_REASONS = {
  none: { reason: 0, reasonText: 'none' },
  sequencerDown: { reason: 1, reasonText: 'the sequencer of the chain is down' },
  sequencerRestarted: { reason: 2, reasonText: 'the sequencer of the chain is up again too short' },
  priceNotPositive: { reason: 3, reasonText: 'the price feed answers no price' },
  priceStale: { reason: 4, reasonText: 'the price feed was not updated in time' },
  priceDeviates: { reason: 5, reasonText: 'the price moved by more than a fifth in one round' },
  clocksDiffer: { reason: 6, reasonText: 'the time of the chain and of this server differ' },
  unreadable: { reason: 7, reasonText: 'the chain cannot be read' },
} as const;

export type BreakerReason = keyof typeof BREAKER_REASONS;

/** Reading of the chain: its head and both feeds, all at one block. */
export type BreakerReading = { readonly head: Block; readonly feeds: FeedReading };

const BPS = 10_000n;

/**
 * Returns the first reason to refuse paid requests, or `none`. Ages are counted in the time of the chain; `nowSec` is the
 * server's own time, which sets the validity of signed payments.
 */
export function findReason(
  { head, feeds }: BreakerReading,
  time: {
    readonly nowSec: number;
    /** Seconds that have passed since the reading. */
    readonly sinceSec: number;
    readonly skewSeconds: number;
  },
): BreakerReason {
  const { breaker } = CHAIN_LIMITS;
  const { price, previousAnswer, sequencer } = feeds;
  const chainSec = head.timestampSec + time.sinceSec;
  if (sequencer.answer !== 0n) return 'sequencerDown';
  if (chainSec - sequencer.startedAtSec < breaker.sequencerGraceSeconds) {
    return 'sequencerRestarted';
  }
  if (price.answer <= 0n) return 'priceNotPositive';
  if (isOld(price.updatedAtSec, chainSec)) return 'priceStale';
  if (previousAnswer !== undefined && deviates(price.answer, previousAnswer)) {
    return 'priceDeviates';
  }
  if (Math.abs(time.nowSec - chainSec) > time.skewSeconds) return 'clocksDiffer';
  return 'none';
}

export const isOld = (updatedAtSec: number, chainSec: number): boolean =>
  chainSec - updatedAtSec >
  CHAIN_LIMITS.breaker.priceAgeSeconds + CHAIN_LIMITS.breaker.priceAgeMarginSeconds;

function deviates(answer: bigint, previous: bigint): boolean {
  const change = answer > previous ? answer - previous : previous - answer;
  return previous <= 0n || change * BPS > previous * CHAIN_LIMITS.breaker.deviationBps;
}
