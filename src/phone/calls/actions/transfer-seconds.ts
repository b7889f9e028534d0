import { LIMITS } from '../../../kernel/limits.ts';
import type { CallMoney } from '../call-money.ts';

/**
 * Returns the longest time, in seconds, that a call may last once the other person of its transfer has answered: the time that
 * the reserve pays for, within `longestCallSeconds`, less `ringSeconds`; at least `leastTransferSeconds`.
 */
export function transferSeconds(money: Pick<CallMoney, 'lineSeconds' | 'secondsLeft'>): number {
  const { leastTransferSeconds, longestCallSeconds, ringSeconds } = LIMITS.phone;
  const left = Math.min(money.secondsLeft(), longestCallSeconds - money.lineSeconds());
  return Math.max(leastTransferSeconds, Math.floor(left - ringSeconds));
}
