import { parseUsd } from '../../kernel/amount.ts';
import type { CallbackEvent } from '../carriers/carrier.ts';

type SpendReport = Omit<Extract<CallbackEvent, { kind: 'usage' }>, 'kind'>;

/**
 * Returns true when the carrier's spend of this month has reached the limit. A report may come late or twice, or at the limit
 * of an earlier start of this server. A report without an amount or a time counts as the limit reached in this month, because
 * a service that runs on would spend the operator's money.
 */
export function reachesLimit(
  { firedAtMs, spentRaw, thresholdRaw }: SpendReport,
  { limitUsd, nowMs }: { readonly limitUsd: number | undefined; readonly nowMs: number },
): boolean {
  if (limitUsd === undefined) return false;
  const now = new Date(nowMs);
  // Carriers count their months in UTC.
  const isOver =
    firedAtMs !== null && firedAtMs < Date.UTC(now.getUTCFullYear(), now.getUTCMonth());
  const limitRaw = parseUsd(String(limitUsd));
  const reachedRaw = spentRaw ?? thresholdRaw;
  return !isOver && (limitRaw === undefined || reachedRaw === null || reachedRaw >= limitRaw);
}
