import type { Clock } from '../../kernel/clock.ts';
import type { Sql } from '../../platform/postgres/sql.ts';
import type { SpendReports, SpendRow } from '../spend-reports.ts';
import { COUNTED_SOURCES, lastDays } from './report-window.ts';
import { findRollingGroups, findRollingLatency } from './rolling-store.ts';

export const ANALYTICS_WINDOWS = ['24h', '7d', '30d', 'all'] as const;
export type AnalyticsWindow = (typeof ANALYTICS_WINDOWS)[number];

type Deps = {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly spendReports: SpendReports;
};

type Sums = Pick<SpendRow, 'calls' | 'failed' | 'pending' | 'costRaw'>;
type Group = Sums & { readonly key: string };

type Parts = {
  readonly total: Sums;
  readonly latency: {
    readonly p50Ms: number | null;
    readonly p95Ms: number | null;
    readonly p99Ms: number | null;
  };
  readonly series: readonly Group[];
  readonly hosts: readonly Group[];
};

const ENDPOINTS_SHOWN = 10;
const DAY_MS = 86_400_000;

/**
 * Returns counts, volume, latency and the endpoints that cost most. `24h` ends now and is read from the rows; the other windows
 * are UTC days, today included.
 */
export async function analyticsOf(
  deps: Deps,
  agentIds: readonly number[],
  window: AnalyticsWindow,
) {
  const { hosts, latency, series, total } =
    window === '24h' ? await lastDay(deps, agentIds) : await wholeDays(deps, agentIds, window);
  return {
    window,
    agents: agentIds.length,
    totals: {
      x402: {
        count: total.calls,
        volumeRaw: String(total.costRaw),
        successCount: successes(total),
        failedCount: total.failed,
        pendingCount: total.pending,
        p50LatencyMs: latency.p50Ms,
        p95LatencyMs: latency.p95Ms,
        p99LatencyMs: latency.p99Ms,
      },
    },
    timeSeries: series.map(({ calls, costRaw, key }) => ({
      date: key,
      count: calls,
      volumeRaw: String(costRaw),
    })),
    topEndpoints: hosts.map((host) => ({
      host: host.key,
      count: host.calls,
      volumeRaw: String(host.costRaw),
      successRate: Math.round((successes(host) / host.calls) * 10_000) / 10_000,
    })),
  };
}

const successes = ({ calls, failed, pending }: Sums): number => calls - failed - pending;

const NO_CALLS: Sums = { calls: 0, failed: 0, pending: 0, costRaw: 0n };

const plus = (a: Sums, b: Sums): Sums => ({
  calls: a.calls + b.calls,
  failed: a.failed + b.failed,
  pending: a.pending + b.pending,
  costRaw: a.costRaw + b.costRaw,
});

async function lastDay({ clock, sql }: Deps, agentIds: readonly number[]): Promise<Parts> {
  const until = new Date(clock.now());
  const window = { agentIds, since: new Date(until.getTime() - DAY_MS), until };
  const [latency, series, hosts] = await Promise.all([
    findRollingLatency(sql, window),
    findRollingGroups(sql, window, 'hour'),
    findRollingGroups(sql, window, 'host'),
  ]);
  return {
    total: series.reduce(plus, NO_CALLS),
    latency,
    series,
    hosts: hosts.slice(0, ENDPOINTS_SHOWN),
  };
}

async function wholeDays(
  { clock, spendReports }: Deps,
  agentIds: readonly number[],
  window: Exclude<AnalyticsWindow, '24h'>,
): Promise<Parts> {
  const days = window === 'all' ? undefined : lastDays(clock, window === '7d' ? 7 : 30);
  const counted = { agentIds, ...days, sources: COUNTED_SOURCES };
  const [byDay, byHost, latency] = await Promise.all([
    days === undefined
      ? spendReports.totals({ ...counted, groupBy: 'day' }).then(({ rows }) => rows)
      : spendReports.series({ ...counted, ...days }),
    spendReports.totals({ ...counted, groupBy: 'host', top: ENDPOINTS_SHOWN }),
    spendReports.latency({ agentIds, ...days }),
  ]);
  return { total: byHost.total, latency, series: byDay, hosts: byHost.rows };
}
