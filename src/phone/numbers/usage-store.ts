import type { Queryable } from '../../platform/postgres/sql.ts';
import { PHONE_LIMITS } from '../limits.ts';

export type NumberUsage = {
  readonly days: readonly UsageDay[];
  /** True when the agent has more charges in that time than are read, so that the oldest days are incomplete. */
  readonly isTruncated: boolean;
};

export type UsageDay = {
  /** Day of the usage as `YYYY-MM-DD`, in UTC. */
  readonly day: string;
  readonly totalRaw: bigint;
  readonly requests: number;
};

/** Filter of the charges that are added up: one agent, one target, one span of time. */
export type UsageQuery = {
  readonly agentId: number;
  /** Prefix of the targets of the charges. */
  readonly target: string;
  readonly since: Date;
  readonly until: Date;
};

/**
 * Adds up the charges of a number by day, without the days that have none. Reads the charges of its agent, latest first, up to
 * `mostRows` rows.
 */
export async function findUsage(
  sql: Queryable,
  query: UsageQuery,
  mostRows: number = PHONE_LIMITS.number.usageRowsRead,
): Promise<NumberUsage> {
  const rows = await sql<(Partial<UsageDay> & { read: number })[]>`
    with recent as materialized (
      select created_at, cost_raw, target_url from charges
      where agent_id = ${query.agentId}
        and created_at >= ${query.since} and created_at < ${query.until}
      order by created_at desc limit ${mostRows}),
    days as (
      select (created_at at time zone 'utc')::date::text as day, sum(cost_raw)::bigint as total,
        count(*)::int as requests
      from recent where starts_with(target_url, ${query.target}) group by 1)
    select d.day, d.total as "totalRaw", d.requests, r.read
    from (select count(*)::int as read from recent) r left join days d on true
    order by d.day`;
  return {
    days: rows.flatMap(({ day, totalRaw, requests }) =>
      day == null ? [] : [{ day, totalRaw: totalRaw ?? 0n, requests: requests ?? 0 }],
    ),
    isTruncated: rows[0]?.read === mostRows,
  };
}

export type NumberCall = {
  readonly id: string;
  readonly direction: 'inbound' | 'outbound';
  readonly from: string;
  readonly to: string;
  readonly status: string;
  readonly durationSeconds: number | null;
  readonly startedAt: Date | null;
  readonly endedAt: Date | null;
};

/** Returns the latest calls of a number, latest first. */
export async function findNumberCalls(sql: Queryable, numberId: number): Promise<NumberCall[]> {
  return sql<NumberCall[]>`
    select id, direction, from_number as "from", to_number as "to", status,
      duration_seconds as "durationSeconds", started_at as "startedAt", ended_at as "endedAt"
    from calls where number_id = ${numberId}
    order by created_at desc, id limit ${PHONE_LIMITS.number.callsListed}`;
}

export type FleetNumber = {
  readonly id: number;
  readonly phoneNumber: string;
  readonly agentId: number;
  readonly agentName: string;
  readonly status: string;
  readonly createdAt: Date;
  /** Number of its calls since `callsSince`. */
  readonly recentCalls: number;
};

/** Returns the numbers that an account rents now, with the number of their calls since `callsSince`. */
export async function findFleet(
  sql: Queryable,
  accountId: string,
  callsSince: Date,
): Promise<FleetNumber[]> {
  return sql<FleetNumber[]>`
    select n.id, n.phone_number as "phoneNumber", n.agent_id as "agentId", a.name as "agentName",
      n.status, n.created_at as "createdAt",
      (select count(*)::int from calls c
       where c.number_id = n.id and c.created_at >= ${callsSince}) as "recentCalls"
    from phone_numbers n join agents a on a.id = n.agent_id
    where n.account_id = ${accountId} and n.status in ('active', 'grace')
    order by n.id desc`;
}
