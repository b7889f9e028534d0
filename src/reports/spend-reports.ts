import type { Queryable } from '../platform/postgres/sql.ts';
import { daysBetween } from './days.ts';
import { type LatencyReport, percentilesOf } from './latency.ts';
import { REPORT_LIMITS } from './limits.ts';
import type { SpendSource } from './spend-source.ts';
import { findLatency, findSpendBy, type SpendGroup, type SpendScope } from './spend-store.ts';
import { addSums, lessSums, NO_SPEND, type SpendSums } from './spend-sums.ts';
import { byCost, byKey, TopGroups } from './top-groups.ts';

/** Agents and days of a report. Days are UTC days as `2026-11-29`, both included; an absent day is no bound. */
export type ReportWindow = {
  readonly agentIds: readonly number[];
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  /** Sources that count. Absent: all sources. */
  readonly sources?: readonly SpendSource[] | undefined;
};

/** Groups of a report. Customers and tasks are summed over all sources. */
type Grouping =
  | { readonly groupBy: 'customer' | 'task'; readonly sources?: undefined }
  | { readonly groupBy: Exclude<SpendGroup, 'customer' | 'task'> };

export type SpendRow = SpendSums & {
  /** Value of the group's field: a text, an agent's id in digits, or a UTC day. Empty for calls without the tag. */
  readonly key: string;
};

export type SpendReport = {
  /** Rows in descending order of cost; days in ascending order. */
  readonly rows: readonly SpendRow[];
  readonly total: SpendSums;
  /** Total of the rows that `rows` leaves out. */
  readonly other: SpendSums;
};

export type SpendReports = ReturnType<typeof createSpendReports>;

/**
 * Creates the sums of spend that all reports are made of. Each is exact for one snapshot of the database: all charges and
 * reconciled rows by the UTC day on which they were made, and pending payments by the day of their reservation.
 */
export function createSpendReports({ sql }: { readonly sql: Queryable }) {
  const topGroups = new TopGroups(sql);
  return {
    /** Returns sums by one field: the `top` rows of the highest cost, by default `REPORT_LIMITS.rows`. */
    async totals(
      window: ReportWindow & Grouping & { readonly top?: number },
    ): Promise<SpendReport> {
      const { groupBy } = window;
      const top = groupBy === 'day' ? REPORT_LIMITS.days : (window.top ?? REPORT_LIMITS.rows);
      const hasManyKeys = groupBy === 'customer' || groupBy === 'task';
      const { rows, total } = await (hasManyKeys && top <= REPORT_LIMITS.top.groups
        ? topGroups.read(groupBy, scopeOf(window), top)
        : findSpendBy(sql, groupBy, scopeOf(window), top));
      const sorted = rows.toSorted(groupBy === 'day' ? byKey : byCost);
      return { rows: sorted, total, other: lessSums(total, sorted.reduce(addSums, NO_SPEND)) };
    },

    /** Returns the sums of each day from `since` to `until`, also of days without a call. */
    async series(
      window: ReportWindow & { readonly since: string; readonly until: string },
    ): Promise<readonly SpendRow[]> {
      const { rows } = await findSpendBy(sql, 'day', scopeOf(window), REPORT_LIMITS.days);
      const byDay = new Map(rows.map((row) => [row.key, row]));
      return daysBetween(window.since, window.until).map(
        (key) => byDay.get(key) ?? { key, ...NO_SPEND },
      );
    },

    /** Returns percentiles of the latency of requests. Sessions and phone calls do not count: their latency is their duration. */
    async latency(window: Omit<ReportWindow, 'sources'>): Promise<LatencyReport> {
      return percentilesOf(await findLatency(sql, scopeOf(window)));
    },
  };
}

const scopeOf = ({ agentIds, since, sources, until }: ReportWindow): SpendScope => ({
  agentIds,
  since: since ?? null,
  until: until ?? null,
  sources: sources ?? null,
});
