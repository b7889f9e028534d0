import type { Queryable } from '../../platform/postgres/sql.ts';
import type { ActionOutcome, OutcomeReport } from './outcome.ts';

/** Stores a report in place of the previous report. Of concurrent reports, the report that is written last stays. */
export async function saveOutcome(
  sql: Queryable,
  agentId: number,
  actionId: string,
  report: OutcomeReport,
): Promise<ActionOutcome> {
  const [row] = await sql<ActionOutcome[]>`
    insert into action_outcomes as o (agent_id, action_id, status, score_bps, note)
    values (${agentId}, ${actionId}, ${report.status}, ${report.scoreBps}, ${report.note})
    on conflict (agent_id, action_id) do update
    set status = excluded.status, score_bps = excluded.score_bps, note = excluded.note,
      report_count = o.report_count + 1,
      -- Not now(): a transaction that waited for the row began before the report that it replaces.
      reported_at = clock_timestamp()
    returning status, score_bps as "scoreBps", note, report_count as "reportCount",
      reported_at as "reportedAt"
  `;
  return row as ActionOutcome;
}
