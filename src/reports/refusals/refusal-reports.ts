import type { Worker } from '../../kernel/schedule.ts';
import type { Sql } from '../../platform/postgres/sql.ts';
import { REPORT_LIMITS } from '../limits.ts';
import type { ReportWindow } from '../spend-reports.ts';
import type { RefusalReport, RefusalRow } from './refusal.ts';
import type { RefusalLog } from './refusal-log.ts';
import { countRefusals, findRefusals, pruneRefusalDays, pruneRefusals } from './refusal-store.ts';

export type RefusalReports = ReturnType<typeof createRefusalReports>;

/** Creates the reads of refused and failed calls. Counts reach the database within a second; a killed process loses that second. */
export function createRefusalReports({ sql }: { readonly sql: Sql }) {
  return {
    /** Returns the counts of all refusals and failures, by reason and by UTC day. */
    counts({
      agentIds,
      since = undefined,
      until = undefined,
    }: Omit<ReportWindow, 'sources'>): Promise<RefusalReport> {
      return countRefusals(sql, { agentIds, since: since ?? null, until: until ?? null });
    },

    /** Returns rows, newest first, that come before the row `before`. */
    rows({
      agentIds,
      before,
      limit,
    }: {
      readonly agentIds: readonly number[];
      readonly before?: bigint | undefined;
      readonly limit: number;
    }): Promise<readonly RefusalRow[]> {
      return findRefusals(sql, agentIds, before ?? null, limit);
    },
  };
}

/** Workers of the record of refusals: one writes it each second, the other deletes old rows. */
export function refusalWorkers(deps: {
  readonly sql: Sql;
  readonly log: Pick<RefusalLog, 'flush'>;
}): Worker[] {
  const { flushMs, keptDays, prune } = REPORT_LIMITS.refusals;
  return [
    { name: 'write-refusals', everyMs: flushMs, tick: deps.log.flush },
    {
      name: 'prune-refusals',
      everyMs: prune.everyMs,
      async tick() {
        for (const batch of [pruneRefusals, pruneRefusalDays]) {
          for (let n = 0; n < prune.batchesPerTick; n++) {
            if ((await batch(deps.sql, keptDays, prune.batch)) < prune.batch) break;
          }
        }
      },
    },
  ];
}
