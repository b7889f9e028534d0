import { createBudgetReports } from '../../spend/awareness/budget-left.ts';
import { createTeamReadings } from '../../spend/awareness/team-readings.ts';
import { readTeamCounters } from '../../spend/limits/counter-store.ts';
import type { LedgerParts } from './build-ledger.ts';
import type { World } from './world.ts';

/** Builds the reports of what an agent may still spend, which answers carry. */
export function buildBudgets(world: World, { time }: Pick<LedgerParts, 'time'>) {
  const { settings, sql } = world;
  const team = createTeamReadings({ ...world, read: (ids) => readTeamCounters(sql, ids) });
  return createBudgetReports({ team, now: time.now, advisory: settings.budgetAdvisory });
}
