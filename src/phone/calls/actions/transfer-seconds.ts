import { PHONE_LIMITS } from '../../limits.ts';
import type { CallMoney } from '../call-money.ts';

/**
 * Returns the longest time, in seconds, that a call may last once the other person of its transfer has answered: the time that
 * the reserve pays for, within `longestCallSeconds`, less `ringSeconds`; at least `leastTransferSeconds`.
 */
export function transferSeconds(money: Pick<CallMoney, 'lineSeconds' | 'secondsLeft'>): number {
  const { leastSeconds: leastTransferSeconds } = PHONE_LIMITS.transfer;
  const { longestSeconds: longestCallSeconds, ringSeconds } = PHONE_LIMITS.call;
  const left = Math.min(money.secondsLeft(), longestCallSeconds - money.lineSeconds());
  return Math.max(leastTransferSeconds, Math.floor(left - ringSeconds));
}
