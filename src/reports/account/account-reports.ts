import type { Clock } from '../../kernel/clock.ts';
import type { Sql } from '../../platform/postgres/sql.ts';
import { ownAgents } from '../own-agents.ts';
import type { OwnAgent } from '../own-agents-store.ts';
import { type RefusalReason, UNCHARGED_FAILURES } from '../refusals/refusal.ts';
import type { RefusalReports } from '../refusals/refusal-reports.ts';
import type { SpendReports } from '../spend-reports.ts';
import { type AnalyticsWindow, analyticsOf } from './analytics.ts';
import { monthOf } from './billing.ts';
import { coverageOf } from './coverage.ts';
import { type GroupedBy, groupedLedger } from './grouped-ledger.ts';
import { COUNTED_SOURCES, lastDays } from './report-window.ts';
import { spendSeries } from './spend-series.ts';
import { type Period, summaryOf } from './spend-summary.ts';

export type ReportDeps = {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly spendReports: SpendReports;
  readonly refusalReports: RefusalReports;
};

export type AccountReports = ReturnType<typeof createAccountReports>;

/**
 * Creates the reports of an account. Every method takes the account, and throws 404 when `agentId` is another account's agent.
 */
export function createAccountReports(deps: ReportDeps) {
  const { sql } = deps;
  const idsOf = (agents: readonly OwnAgent[]) => agents.map(({ id }) => id);
  const own = async (accountId: string, agentId?: number) =>
    idsOf(await ownAgents(sql, accountId, agentId));

  return {
    async spendSeries(accountId: string, days: number, agentId?: number) {
      return spendSeries(deps, await own(accountId, agentId), days);
    },

    async usageSummary(accountId: string, window: UsageWindow, agentId?: number) {
      return usageOf(deps, await own(accountId, agentId), window);
    },

    async analytics(accountId: string, window: AnalyticsWindow, agentId?: number) {
      return analyticsOf(deps, await own(accountId, agentId), window);
    },

    async coverage(accountId: string, days: number, agentId?: number) {
      return coverageOf(deps, await own(accountId, agentId), days);
    },

    async ledger(accountId: string, groupBy: GroupedBy, days: number, agentId?: number) {
      return groupedLedger(deps, await own(accountId, agentId), { groupBy, days });
    },

    async monthToDate(accountId: string) {
      return monthOf(deps, await ownAgents(sql, accountId));
    },

    /** Returns the calling agent's spend of the last day, week or month, up to this instant. */
    spendSummary: (agentId: number, period: Period) => summaryOf(deps, agentId, period),
  };
}

export const USAGE_WINDOWS = ['7d', '30d'] as const;
export type UsageWindow = (typeof USAGE_WINDOWS)[number];

/** Refusals by a limit that the developer or the agent has set. */
const TRIPPED: ReadonlySet<RefusalReason> = new Set<RefusalReason>([
  'policy',
  'session_limit',
  'key_budget',
]);

/** Returns the calls of a window, how many of them failed, and how often a limit refused one. */
async function usageOf(deps: ReportDeps, agentIds: readonly number[], window: UsageWindow) {
  const days = lastDays(deps.clock, window === '7d' ? 7 : 30);
  const [spend, refused, latency] = await Promise.all([
    deps.spendReports.totals({ agentIds, ...days, sources: COUNTED_SOURCES, groupBy: 'source' }),
    deps.refusalReports.counts({ agentIds, ...days }),
    deps.spendReports.latency({ agentIds, ...days }),
  ]);
  const count = (isCounted: (reason: RefusalReason) => boolean) =>
    refused.byReason.reduce((sum, each) => sum + (isCounted(each.reason) ? each.count : 0), 0);
  // A failed attempt at a model has a failed charge, which the totals count.
  const unpaid = count((reason) => UNCHARGED_FAILURES.has(reason));
  const calls = spend.total.calls + unpaid;
  const failed = spend.total.failed + unpaid;
  return {
    window,
    calls,
    errorRatePct: calls === 0 ? 0 : Math.round((failed / calls) * 10_000) / 100,
    p50LatencyMs: latency.p50Ms,
    policiesTripped: count((reason) => TRIPPED.has(reason)),
  };
}
