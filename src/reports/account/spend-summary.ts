import { formatUsdc } from '../../kernel/amount.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Sql } from '../../platform/postgres/sql.ts';
import { dayAfter, dayOf } from '../days.ts';
import type { SpendReports } from '../spend-reports.ts';
import { COUNTED_SOURCES } from './report-window.ts';
import { findRollingSums } from './rolling-store.ts';

/** Periods by their days. Each ends now and begins as many times 24 hours before. */
const PERIODS = { day: 1, week: 7, month: 30 } as const;

export const PERIOD_NAMES = ['day', 'week', 'month'] as const;
export type Period = (typeof PERIOD_NAMES)[number];

type Deps = { readonly sql: Sql; readonly clock: Clock; readonly spendReports: SpendReports };

const DAY_MS = 86_400_000;

/** Returns an agent's spend of a rolling period: the rows of its first day, and the totals of the days after it. */
export async function summaryOf(
  { clock, spendReports, sql }: Deps,
  agentId: number,
  period: Period,
) {
  const nowMs = clock.now();
  const since = new Date(nowMs - PERIODS[period] * DAY_MS);
  const firstWhole = dayAfter(dayOf(since.getTime()), 1);
  const agentIds = [agentId];
  const [first, rest] = await Promise.all([
    findRollingSums(sql, { agentIds, since, until: new Date(`${firstWhole}T00:00:00Z`) }),
    spendReports.totals({
      agentIds,
      since: firstWhole,
      until: dayOf(nowMs),
      sources: COUNTED_SOURCES,
      groupBy: 'source',
    }),
  ]);
  const total = rest.total;
  const costRaw = first.costRaw + total.costRaw;
  const failedCount = first.failed + total.failed;
  return {
    period,
    since: since.toISOString(),
    until: new Date(nowMs).toISOString(),
    totalSpendRaw: String(costRaw),
    totalSpendUsdc: formatUsdc(costRaw),
    successCount:
      first.calls - first.failed - first.pending + total.calls - total.failed - total.pending,
    failedCount,
  };
}
