import { expect, it } from 'vitest';
import { transferSeconds } from '../../../../../src/phone/calls/actions/transfer-seconds.ts';

it.each([
  ['what the reserve pays for once it has rung for a minute', 10.5, 900, 840],
  ['what is left of the hour of a call', 600.5, 8_000, 2_939],
  ['the hour, of a line that costs nothing', 0, Number.POSITIVE_INFINITY, 3_540],
  ['at least a minute', 30, 20, 60],
  ['at least a minute, also at the end of the hour', 3_590, 8_000, 60],
])('a transferred call may last %s', (_, lineSeconds, secondsLeft, seconds) => {
  const money = { lineSeconds: () => lineSeconds, secondsLeft: () => secondsLeft };
  expect(transferSeconds(money)).toBe(seconds);
});
