import type { Clock } from '../../kernel/clock.ts';
import { FAILURE_REASONS } from '../refusals/refusal.ts';
import type { RefusalReports } from '../refusals/refusal-reports.ts';
import type { SpendReports } from '../spend-reports.ts';
import { COUNTED_SOURCES, lastDays } from './report-window.ts';

const VENDORS_SHOWN = 8;

type Deps = {
  readonly clock: Clock;
  readonly spendReports: SpendReports;
  readonly refusalReports: RefusalReports;
};

/** Returns the spend of each of the last UTC days, and of the vendors that cost most. */
export async function spendSeries(deps: Deps, agentIds: readonly number[], days: number) {
  const window = { agentIds, ...lastDays(deps.clock, days), sources: COUNTED_SOURCES };
  const [series, byHost, refused] = await Promise.all([
    deps.spendReports.series(window),
    deps.spendReports.totals({ ...window, groupBy: 'host', top: VENDORS_SHOWN }),
    deps.refusalReports.counts({ agentIds, since: window.since, until: window.until }),
  ]);
  const declined = refused.byReason
    .filter(({ reason }) => !FAILURE_REASONS.has(reason))
    .reduce((sum, { count }) => sum + count, 0);
  const rows = byHost.rows.map(({ costRaw, key }) => ({ host: key, totalRaw: String(costRaw) }));
  const other = { host: 'other', totalRaw: String(byHost.other.costRaw) };
  return {
    days,
    series: series.map(({ costRaw, key }) => ({ date: key, totalRaw: String(costRaw) })),
    byVendor: byHost.other.calls > 0 ? [...rows, other] : rows,
    totals: {
      requests: byHost.total.calls,
      declined,
      totalRaw: String(byHost.total.costRaw),
    },
  };
}
