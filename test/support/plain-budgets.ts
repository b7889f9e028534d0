import { systemClock } from '../../src/kernel/clock.ts';
import { silentLog } from '../../src/kernel/log.ts';
import type { Sql } from '../../src/platform/postgres/sql.ts';
import { type BudgetReports, createBudgetReports } from '../../src/spend/awareness/budget-left.ts';
import { createTeamReadings } from '../../src/spend/awareness/team-readings.ts';
import { readTeamCounters } from '../../src/spend/limits/counter-store.ts';

/** Reports without an advisory; without a database nothing is known of any team. */
export function plainBudgets(
  options: { readonly sql?: Sql; readonly enabled?: boolean; readonly nearLimitBps?: number } = {},
): BudgetReports {
  const { sql, enabled = false, nearLimitBps } = options;
  const team = createTeamReadings({
    read: async (policyIds) => (sql === undefined ? new Map() : readTeamCounters(sql, policyIds)),
    clock: systemClock,
    log: silentLog,
  });
  return createBudgetReports({ team, now: systemClock.now, advisory: { enabled, nearLimitBps } });
}
