import type { Queryable } from '../store/sql.ts';
import type { Outcome, OutcomeReport } from './outcome.ts';

/** Keeps the report in place of the one before it; of reports that race the one that is written last stays. */
export async function saveOutcome(
  sql: Queryable,
  agentId: number,
  actionId: string,
  report: OutcomeReport,
): Promise<Outcome> {
  const [row] = await sql<Outcome[]>`
    insert into action_outcomes as o (agent_id, action_id, status, score_bps, note)
    values (${agentId}, ${actionId}, ${report.status}, ${report.scoreBps}, ${report.note})
    on conflict (agent_id, action_id) do update
    set status = excluded.status, score_bps = excluded.score_bps, note = excluded.note,
      report_count = o.report_count + 1,
      -- Not now(): whoever waited for the row began before the report that it replaces.
      reported_at = clock_timestamp()
    returning status, score_bps as "scoreBps", note, report_count as "reportCount",
      reported_at as "reportedAt"
  `;
  return row as Outcome;
}

/**
 * How well an agent's actions turned out of late: the mean, in bps and rounded down, over what was reported
 * within the window. Where there is no score a success counts whole, a partial one half, the rest nothing.
 * Null when nothing was reported. Reads nothing older than the window.
 */
export async function readQuality(
  sql: Queryable,
  agentId: number,
  windowSeconds: number,
): Promise<number | null> {
  const [row] = await sql<{ quality: number | null }[]>`
    select floor(avg(coalesce(score_bps,
      case status when 'success' then 10000 when 'partial' then 5000 else 0 end)))::int as quality
    from action_outcomes
    where agent_id = ${agentId} and reported_at > now() - make_interval(secs => ${windowSeconds})
  `;
  return row?.quality ?? null;
}
