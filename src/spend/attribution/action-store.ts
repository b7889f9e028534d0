import type { Queryable } from '../../platform/postgres/sql.ts';
import type { ActionOutcome } from './outcome.ts';

/** An action's calls and cost, with its reported outcome. It may have only one of the two. */
export type Action = {
  readonly actionId: string;
  readonly calls: number;
  /** Sum of the settled calls. */
  readonly spentRaw: bigint;
  readonly firstSeen: Date | null;
  readonly lastSeen: Date | null;
  readonly outcome: ActionOutcome | null;
};

type Row = {
  action_id: string;
  calls: number;
  spent_raw: bigint | null;
  first_seen: Date | null;
  last_seen: Date | null;
  status: ActionOutcome['status'] | null;
  score_bps: number | null;
  note: string | null;
  report_count: number;
  reported_at: Date;
};

/**
 * Returns an agent's latest actions, by the later of their last call and their last report; free calls count as calls that cost
 * nothing. Every action among the latest of all three tables is among the latest of one table, so at most three times the limit
 * is read.
 */
export async function findActions(
  sql: Queryable,
  agentId: number,
  limit: number,
): Promise<Action[]> {
  const rows = await sql<Row[]>`
    with latest as (
      (select action_id from action_totals where agent_id = ${agentId}
       order by last_seen desc, action_id limit ${limit})
      union
      (select action_id from free_action_totals where agent_id = ${agentId}
       order by last_seen desc, action_id limit ${limit})
      union
      (select action_id from action_outcomes where agent_id = ${agentId}
       order by reported_at desc, action_id limit ${limit}))
    select latest.action_id, coalesce(t.calls, 0) + coalesce(f.calls, 0) as calls, t.spent_raw,
      least(t.first_seen, f.first_seen) as first_seen,
      greatest(t.last_seen, f.last_seen) as last_seen,
      o.status, o.score_bps, o.note, o.report_count, o.reported_at
    from latest
    left join action_totals t on t.agent_id = ${agentId} and t.action_id = latest.action_id
    left join free_action_totals f on f.agent_id = ${agentId} and f.action_id = latest.action_id
    left join action_outcomes o on o.agent_id = ${agentId} and o.action_id = latest.action_id
    order by greatest(t.last_seen, f.last_seen, o.reported_at) desc, latest.action_id
    limit ${limit}
  `;
  return rows.map(toAction);
}

const toAction = (row: Row): Action => ({
  actionId: row.action_id,
  calls: row.calls,
  spentRaw: row.spent_raw ?? 0n,
  firstSeen: row.first_seen,
  lastSeen: row.last_seen,
  outcome: row.status === null ? null : outcomeOf(row, row.status),
});

const outcomeOf = (row: Row, status: ActionOutcome['status']): ActionOutcome => ({
  status,
  scoreBps: row.score_bps,
  note: row.note,
  reportCount: row.report_count,
  reportedAt: row.reported_at,
});
