import type { Worker } from '../kernel/schedule.ts';
import type { Sql } from '../platform/postgres/sql.ts';
import { REPORT_LIMITS } from './limits.ts';
import { findRollUpWork, rollUp } from './roll-up-store.ts';

/**
 * Adds charges and reconciled rows to the totals of reports, behind the commits that wrote them. Every process runs this worker; a
 * killed one leaves nothing half done. A tick looks at the next `agentsPerLook` agents.
 */
export function rollUpReports({ sql }: { readonly sql: Sql }): Worker {
  const { agentsPerLook, agentsPerStatement, everyMs, rowsPerAgent, statementsPerTick } =
    REPORT_LIMITS.rollUp;
  let afterId = 0;
  return {
    name: 'roll-up-reports',
    everyMs,
    async tick() {
      const { agentIds, lastId } = await findRollUpWork(sql, afterId, agentsPerLook);
      let statements = 0;
      for (let at = 0; at < agentIds.length; at += agentsPerStatement) {
        const some = agentIds.slice(at, at + agentsPerStatement);
        // The first of a long history takes several statements, and the other agents wait for the next tick.
        while (statements < statementsPerTick) {
          statements++;
          if ((await rollUp(sql, some, rowsPerAgent)) < rowsPerAgent) break;
        }
      }
      if (statements < statementsPerTick) afterId = lastId ?? 0;
    },
  };
}
