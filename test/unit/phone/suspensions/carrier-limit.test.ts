import { expect, it } from 'vitest';
import { reachesLimit } from '../../../../src/phone/suspensions/carrier-limit.ts';

const NOW = Date.UTC(2026, 10, 1, 0, 0, 30);
const report = { spentRaw: 51_000_000n, thresholdRaw: 50_000_000n, firedAtMs: NOW - 10_000 };

it.each([
  ['the spend of this month at the limit', { spentRaw: 50_000_000n }],
  ['a spend above the limit, at a threshold of before', { thresholdRaw: 20_000_000n }],
  ['the threshold alone, which is the limit', { spentRaw: null }],
  ['no amount at all', { spentRaw: null, thresholdRaw: null }],
  ['no time', { firedAtMs: null }],
  ['the first second of a month that has not begun here', { firedAtMs: Date.UTC(2026, 11, 1) }],
])('a spend report of a carrier reaches the limit with %s', (_, said) => {
  expect(reachesLimit({ ...report, ...said }, { limitUsd: 50, nowMs: NOW })).toBe(true);
});

it.each([
  ['the last month', { firedAtMs: Date.UTC(2026, 10, 1) - 1 }],
  ['a spend below the limit, at a threshold of before', { spentRaw: 20_500_000n }],
  ['a threshold of before, without its spend', { spentRaw: null, thresholdRaw: 20_000_000n }],
])('a spend report of a carrier does not reach the limit when it is of %s', (_, said) => {
  expect(reachesLimit({ ...report, ...said }, { limitUsd: 50, nowMs: NOW })).toBe(false);
});

it('a spend report of a carrier reaches no limit when none is set', () => {
  expect(reachesLimit(report, { limitUsd: undefined, nowMs: NOW })).toBe(false);
});
