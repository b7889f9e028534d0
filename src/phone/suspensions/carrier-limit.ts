import { parseUsd } from '../../kernel/amount.ts';
import type { CallbackEvent } from '../carriers/carrier.ts';

type SpendReport = Omit<Extract<CallbackEvent, { kind: 'usage' }>, 'kind'>;

/**
 * Whether the spend of this month has reached the limit. A carrier may report late or twice, and reports at the limit of an
 * earlier start until it is told of this one. What a report does not say is taken for the worst: the limit is there for the
 * operator's money.
 */
export function reachesLimit(
  { firedAtMs, spentRaw, thresholdRaw }: SpendReport,
  { limitUsd, nowMs }: { readonly limitUsd: number | undefined; readonly nowMs: number },
): boolean {
  if (limitUsd === undefined) return false;
  const now = new Date(nowMs);
  // The months of a carrier are in UTC.
  const isOver =
    firedAtMs !== null && firedAtMs < Date.UTC(now.getUTCFullYear(), now.getUTCMonth());
  const limitRaw = parseUsd(String(limitUsd));
  const reachedRaw = spentRaw ?? thresholdRaw;
  return !isOver && (limitRaw === undefined || reachedRaw === null || reachedRaw >= limitRaw);
}
