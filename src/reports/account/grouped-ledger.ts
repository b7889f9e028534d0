import type { Clock } from '../../kernel/clock.ts';
import { reportErrors } from '../errors.ts';
import type { SpendReports } from '../spend-reports.ts';
import type { SpendGroup } from '../spend-store.ts';
import type { SpendSums } from '../spend-sums.ts';
import { lastDays } from './report-window.ts';

/** Groupings by their names in queries. A campaign is a task. */
const GROUPS = {
  source: 'source',
  customer: 'customer',
  campaign: 'task',
  agent: 'agent',
} as const;

export type GroupedBy = keyof typeof GROUPS;

const ROWS_SHOWN = 50;

/** Reads the name of a grouping. Throws the refusal of any other text. */
export function readGroupBy(text: string): GroupedBy {
  if (Object.hasOwn(GROUPS, text)) return text as GroupedBy;
  throw reportErrors.invalidGroupBy(text.slice(0, 64), Object.keys(GROUPS));
}

/** Returns the known spend of the last UTC days by one field: the rows that cost most, and one row for all others. */
export async function groupedLedger(
  deps: { readonly clock: Clock; readonly spendReports: SpendReports },
  agentIds: readonly number[],
  { days, groupBy }: { readonly days: number; readonly groupBy: GroupedBy },
) {
  const group: SpendGroup = GROUPS[groupBy];
  const window = { agentIds, ...lastDays(deps.clock, days), groupBy: group, top: ROWS_SHOWN };
  const { other, rows, total } = await deps.spendReports.totals(window);
  const shown = rows.map(({ key, ...sums }) =>
    key === '' ? rowOf('untagged', false, sums) : rowOf(key, true, sums),
  );
  return {
    days,
    groupBy,
    totalRaw: String(total.costRaw),
    rows: other.calls > 0 ? [...shown, rowOf('other', false, other)] : shown,
  };
}

const rowOf = (key: string, tagged: boolean, { calls, costRaw, reconciledRaw }: SpendSums) => ({
  key,
  tagged,
  calls,
  costRaw: String(costRaw),
  reconciledRaw: String(reconciledRaw),
});
