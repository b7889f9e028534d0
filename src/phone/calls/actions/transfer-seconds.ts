import { LIMITS } from '../../../kernel/limits.ts';
import type { CallMoney } from '../call-money.ts';

/**
 * How long the carrier may let a call live once the other person of its transfer has answered: what the reserve pays for,
 * and no longer than any call, less the longest ringing before that. At least a minute.
 */
export function transferSeconds(money: Pick<CallMoney, 'lineSeconds' | 'secondsLeft'>): number {
  const { leastTransferSeconds, longestCallSeconds, ringSeconds } = LIMITS.phone;
  const left = Math.min(money.secondsLeft(), longestCallSeconds - money.lineSeconds());
  return Math.max(leastTransferSeconds, Math.floor(left - ringSeconds));
}
