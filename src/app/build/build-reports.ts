import { startWorkers } from '../../kernel/schedule.ts';
import type { Teardown } from '../../kernel/teardown.ts';
import { createRefusalLog, refusalKey } from '../../reports/refusals/refusal-log.ts';
import { createRefusalReports, refusalWorkers } from '../../reports/refusals/refusal-reports.ts';
import { saveRefusals } from '../../reports/refusals/refusal-store.ts';
import { rollUpReports } from '../../reports/roll-up.ts';
import { createSpendReports } from '../../reports/spend-reports.ts';
import type { World } from './world.ts';

/** Builds the sums that all reports are made of and the record of refusals, and starts the workers behind both. */
export function buildReports(world: World, teardown: Teardown) {
  const { clock, log, sql } = world;
  const refusals = createRefusalLog({
    clock,
    log,
    save: async (batch) =>
      (await saveRefusals(sql, batch)).map(({ agentId, day }) => refusalKey(agentId, day)),
  });
  teardown.defer('refusals', refusals.flush);
  teardown.use(
    'report workers',
    startWorkers(world, [rollUpReports({ sql }), ...refusalWorkers({ sql, log: refusals })]),
  );
  return {
    refusals,
    refusalReports: createRefusalReports({ sql }),
    spendReports: createSpendReports({ sql }),
  };
}
