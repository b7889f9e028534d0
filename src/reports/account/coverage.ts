import type { Clock } from '../../kernel/clock.ts';
import type { SpendReports } from '../spend-reports.ts';
import { classOf } from '../spend-source.ts';
import type { SpendSums } from '../spend-sums.ts';
import { lastDays } from './report-window.ts';

type Deps = { readonly clock: Clock; readonly spendReports: SpendReports };

const BPS = 10_000n;

/**
 * Returns how much of the known spend a policy could have refused beforehand, and how much was reported afterwards. Spend that
 * no report reached is not known here.
 */
export async function coverageOf(deps: Deps, agentIds: readonly number[], days: number) {
  const window = { agentIds, ...lastDays(deps.clock, days) };
  const [bySource, series] = await Promise.all([
    deps.spendReports.totals({ ...window, groupBy: 'source' }),
    deps.spendReports.series(window),
  ]);
  const { total } = bySource;
  const enforceableRaw = total.costRaw - total.reconciledRaw;
  const knownRaw = total.costRaw;
  const coverageBps = ((enforceableRaw + total.reconciledRaw) * BPS) / (knownRaw || 1n);
  return {
    days,
    totals: {
      knownRaw: String(knownRaw),
      enforceableRaw: String(enforceableRaw),
      reconciledRaw: String(total.reconciledRaw),
      coverageBps: knownRaw === 0n ? null : Number(coverageBps),
    },
    bySource: bySource.rows.map(({ calls, costRaw, key }) => ({
      source: key,
      class: classOf(key),
      calls,
      costRaw: String(costRaw),
    })),
    series: series.map((day) => ({
      date: day.key,
      enforceableRaw: String(day.costRaw - day.reconciledRaw),
      reconciledRaw: String(day.reconciledRaw),
    })),
    calls: {
      total: total.calls,
      enforceable: enforceableCalls(total),
      reconciled: total.reconciledCalls,
      byok: bySource.rows.find(({ key }) => key === 'byok')?.calls ?? 0,
    },
    /** Spend that is neither routed through this server nor reported to it. */
    dark: 'unknown' as const,
  };
}

const enforceableCalls = ({ calls, reconciledCalls }: SpendSums): number => calls - reconciledCalls;
