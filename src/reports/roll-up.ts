import type { Worker } from '../kernel/schedule.ts';
import type { Sql } from '../platform/postgres/sql.ts';
import { REPORT_LIMITS } from './limits.ts';
import { findRollUpWork, rollUp } from './roll-up-store.ts';

/**
 * Adds charges and reconciled rows to the totals of reports, behind the commits that wrote them. Every process runs this worker; a
 * killed one leaves nothing half done. A tick goes on at the first agent that the tick before did not reach.
 */
export function rollUpReports({ sql }: { readonly sql: Sql }): Worker {
  const {
    agentsPerScan,
    agentsPerStatement,
    everyMs,
    rowsPerAgent,
    scansPerTick,
    statementsPerTick,
  } = REPORT_LIMITS.rollUp;
  let afterId = 0;
  return {
    name: 'roll-up-reports',
    everyMs,
    async tick() {
      let statements = 0;
      for (let scans = 0; scans < scansPerTick; scans++) {
        const { agentIds, lastId } = await findRollUpWork(sql, afterId, agentsPerScan);
        for (let at = 0; at < agentIds.length; at += agentsPerStatement) {
          const some = agentIds.slice(at, at + agentsPerStatement);
          if (statements >= statementsPerTick) {
            afterId = (some[0] ?? 1) - 1;
            return;
          }
          let rows = 0;
          do {
            statements++;
            rows = await rollUp(sql, some, rowsPerAgent);
          } while (rows >= rowsPerAgent && statements < statementsPerTick);
        }
        afterId = lastId ?? 0;
        if (lastId === null) return;
      }
    },
  };
}
