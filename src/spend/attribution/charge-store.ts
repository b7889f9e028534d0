import type { SessionSummary } from '../../ledger/rules/session-summary.ts';
import type { Queryable } from '../../platform/postgres/sql.ts';

/** Charge of an agent, as it is listed for the agent's developer. */
export type Charge = {
  readonly time: Date;
  readonly agentId: number;
  readonly agentName: string;
  readonly vendor: string;
  readonly endpoint: string;
  readonly amountRaw: bigint;
  /** The live session that was charged; null for other charges. */
  readonly session: ChargedSession | null;
};

export type ChargedSession = {
  readonly id: string;
  readonly kind: string;
  /** Reason of the session's end. */
  readonly reason: string;
  /** Null when the session's process died, since only its journal is known. */
  readonly summary: SessionSummary | null;
};

/**
 * Returns the last `limit` charges of all agents of an account, newest first, without free calls. Reads at most `limit` charges
 * of each agent.
 */
export function findRecentCharges(
  sql: Queryable,
  accountId: string,
  limit: number,
): Promise<Charge[]> {
  return sql<Charge[]>`
    select c.created_at as time, a.id as "agentId", a.name as "agentName",
      c.target_host as vendor, c.target_url as endpoint, c.cost_raw as "amountRaw",
      case when s.id is not null then
        jsonb_build_object('id', s.id, 'kind', s.kind, 'reason', s.end_reason, 'summary', s.summary)
      end as session
    from agents a
    cross join lateral (
      select * from charges n where n.agent_id = a.id and n.cost_raw > 0
      order by n.id desc limit ${limit}) c
    left join sessions s on s.id = c.session_id and s.agent_id = a.id
    where a.account_id = ${accountId}
    order by c.id desc
    limit ${limit}`;
}
