import type { Utilized } from '../../ledger/rules/spend-events.ts';
import type { Queryable } from '../../platform/postgres/sql.ts';
import { SPEND_LIMITS } from '../../spend/limits.ts';

/** Recent spending of an agent, with its keys and phone number. */
export type Rollup = Utilized & {
  readonly recentSpendRaw: bigint;
  readonly keys: number;
  /** The number that the agent rents, also in grace. Null when it rents none. */
  readonly phone: string | null;
};

/** Adds up the figures of many agents in one query. Days are UTC days and include today. */
export async function findRollups(
  sql: Queryable,
  agentIds: readonly number[],
): Promise<ReadonlyMap<number, Rollup>> {
  const rows = await sql<(Rollup & { agentId: number })[]>`
    select f.agent_id as "agentId", f.credited_raw as "creditedRaw",
      f.consumed_raw as "consumedRaw", f.held_raw as "heldRaw",
      (select coalesce(sum(s.cost_raw), 0)::bigint from spend_totals s
       where s.agent_id = f.agent_id
         and s.day > (now() at time zone 'utc')::date - ${SPEND_LIMITS.report.rollupDays}::int)
        as "recentSpendRaw",
      (select count(*)::int from agent_keys k
       where k.agent_id = f.agent_id and k.revoked_at is null) as keys,
      (select n.phone_number from phone_numbers n
       where n.agent_id = f.agent_id and n.status in ('active', 'grace')) as phone
    from agent_funds f where f.agent_id = any (${agentIds as number[]}::int[])
  `;
  return new Map(rows.map(({ agentId, ...rollup }) => [agentId, rollup]));
}
