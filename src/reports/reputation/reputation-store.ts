import type { Queryable } from '../../platform/postgres/sql.ts';

export type StoredFacts = {
  readonly createdAt: Date;
  readonly charges: number;
  readonly failed: number;
  readonly meanOutcome: number | null;
  readonly suspensions: number;
};

/** Outcomes that count: the latest ones. */
const OUTCOMES_READ = 1_000;

/** Reads an agent's age, charges, latest outcomes and suspensions of the last 30 days. Undefined for an unknown agent. */
export async function findReputationFacts(
  sql: Queryable,
  agentId: number,
): Promise<StoredFacts | undefined> {
  const [row] = await sql<StoredFacts[]>`
    select a.created_at as "createdAt",
      (select coalesce(sum(s.calls), 0)::float8 from spend_totals s where s.agent_id = a.id)
        as charges,
      (select coalesce(sum(s.failed), 0)::float8 from spend_totals s where s.agent_id = a.id)
        as failed,
      (select avg(coalesce(o.score_bps,
          case o.status when 'success' then 10000 when 'partial' then 5000 else 0 end))::float8 / 10000
        from (select score_bps, status from action_outcomes
          where agent_id = a.id order by reported_at desc limit ${OUTCOMES_READ}) o
        where o.status <> 'unknown') as "meanOutcome",
      (select count(*)::int from events e
        where e.agent_wallet = a.wallet_address and e.name = 'agent.suspended'
          and e.created_at > now() - interval '30 days') as suspensions
    from agents a where a.id = ${agentId}`;
  return row;
}
