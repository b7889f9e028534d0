import { describe, expect, it } from 'vitest';
import { type BreakerReading, findReason } from '../../../../src/platform/chain/breaker-rules.ts';
import type { FeedReading, Round } from '../../../../src/platform/chain/feeds.ts';
import { CHAIN_LIMITS } from '../../../../src/platform/chain/limits.ts';

const HEAD_SEC = 1_800_000_000;
const round = (more: Partial<Round> = {}): Round => ({
  roundId: 9n,
  answer: 3_000_00000000n,
  startedAtSec: HEAD_SEC - 50_000,
  updatedAtSec: HEAD_SEC - 10,
  ...more,
});
const up = (startedAtSec = HEAD_SEC - 50_000) => round({ answer: 0n, startedAtSec });

function reading(more: Partial<FeedReading> = {}): BreakerReading {
  return {
    head: { number: 1, hash: '0x', timestampSec: HEAD_SEC },
    feeds: {
      price: round(),
      previousAnswer: 3_000_00000000n,
      decimals: 8,
      sequencer: up(),
      ...more,
    },
  };
}
const skewSeconds = 30;
const reasonOf = (feeds: Partial<FeedReading>, time: { now?: number; since?: number } = {}) =>
  findReason(reading(feeds), {
    nowSec: HEAD_SEC + (time.now ?? 0),
    sinceSec: time.since ?? 0,
    skewSeconds,
  });
const { priceAgeSeconds, priceAgeMarginSeconds, sequencerGraceSeconds } = CHAIN_LIMITS.breaker;
const updated = (secondsAgo: number) => ({ price: round({ updatedAtSec: HEAD_SEC - secondsAgo }) });

describe('paid requests are refused', () => {
  it('the breaker rules refuse nothing while the chain and its feeds are healthy', () => {
    expect(reasonOf({})).toBe('none');
  });

  it('the breaker rules refuse a price older than an hour and its margin, by the chain’s time', () => {
    const oldest = priceAgeSeconds + priceAgeMarginSeconds;
    expect(reasonOf(updated(oldest))).toBe('none');
    expect(reasonOf(updated(oldest + 1))).toBe('priceStale');
    expect(reasonOf(updated(oldest), { since: 1, now: 1 })).toBe('priceStale');
  });

  it('the breaker rules refuse a price of zero or below', () => {
    expect(reasonOf({ price: round({ answer: 0n }) })).toBe('priceNotPositive');
    expect(reasonOf({ price: round({ answer: -1n }) })).toBe('priceNotPositive');
  });

  it('the breaker rules refuse a price that moved by more than a fifth, up or down', () => {
    const moved = (from: bigint, to: bigint) =>
      reasonOf({ previousAnswer: from, price: round({ answer: to }) });
    expect(moved(1_000n, 1_200n)).toBe('none');
    expect(moved(1_000n, 1_201n)).toBe('priceDeviates');
    expect(moved(1_000n, 800n)).toBe('none');
    expect(moved(1_000n, 799n)).toBe('priceDeviates');
    expect(moved(0n, 1n)).toBe('priceDeviates');
    expect(moved(-5n, 5n)).toBe('priceDeviates');
    expect(reasonOf({ previousAnswer: undefined })).toBe('none');
  });

  it('the breaker rules refuse while the sequencer is down and for an hour afterwards', () => {
    expect(reasonOf({ sequencer: round({ answer: 1n }) })).toBe('sequencerDown');
    expect(reasonOf({ sequencer: up(HEAD_SEC - sequencerGraceSeconds + 1) })).toBe(
      'sequencerRestarted',
    );
    expect(reasonOf({ sequencer: up(HEAD_SEC - sequencerGraceSeconds) })).toBe('none');
  });

  it('the breaker rules refuse when the clocks of chain and server differ by more than 30 seconds', () => {
    expect(reasonOf({}, { now: 30 })).toBe('none');
    expect(reasonOf({}, { now: 31 })).toBe('clocksDiffer');
    expect(reasonOf({}, { now: -30 })).toBe('none');
    expect(reasonOf({}, { now: -31 })).toBe('clocksDiffer');
    // Time that passes on both is no difference.
    expect(reasonOf({}, { now: 29, since: 29 })).toBe('none');
  });

  it('the breaker rules name the cause before its consequences', () => {
    const down = round({ answer: 1n, startedAtSec: HEAD_SEC - 1 });
    expect(reasonOf({ ...updated(90_000), sequencer: down }, { now: 500 })).toBe('sequencerDown');
  });
});
