import { type BudgetReports, createBudgetReports } from '../../src/controls/budget-left.ts';
import { readTeamCounters } from '../../src/controls/counter-store.ts';
import { createTeamReadings } from '../../src/controls/team-readings.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { silentLog } from '../../src/kernel/log.ts';
import type { Sql } from '../../src/store/sql.ts';

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
