import type { Queryable } from '../../platform/postgres/sql.ts';

/** An alarm that is red. */
export type RedAlarm = {
  readonly name: string;
  readonly since: Date;
  /** Number of things that are wrong, or of times that the fact was seen. */
  readonly count: number;
};

/** Hours that an alarm about a single fact stays red after its last report. */
const RAISED_HOURS = 24;

/**
 * Returns the alarms that are red: the facts of the database that an operator must look at, and the alarms that were raised in
 * the last 24 hours. Each part reads few rows by an index.
 */
export async function findRedAlarms(sql: Queryable): Promise<readonly RedAlarm[]> {
  const minutes = (count: number) => sql`clock_timestamp() - ${count} * interval '1 minute'`;
  const rows = await sql<RedAlarm[]>`
    select * from (
      select 'wallet_differs' as name, min(found_at) as since, count(*)::int as count
      from wallet_differences where told_raw is not null
      union all
      select 'deposit_not_held', min(found_at), count(*)::int from awaited_deposits
      where found_at < ${minutes(30)}
      union all
      select 'payment_undecided', to_timestamp(min(valid_before)), count(*)::int from reservations
      where state in ('reserved', 'sent', 'pending_settlement')
        and valid_before < extract(epoch from ${minutes(30)})
      union all
      select 'payout_waits', min(created_at), count(*)::int from payouts
      where state <> 'done' and created_at < ${minutes(60)}
      union all
      select 'process_lost', min(l.expires_at), count(*)::int from leases l
      where l.expires_at < ${minutes(2)} and (
        exists (select from holds h where h.node_id = l.node_id)
        or exists (select from sessions s where s.node_id = l.node_id and s.ended_at is null))
      union all
      select 'chain_not_read', min(claimed_until), count(*)::int from chain_cursors
      where claimed_until < ${minutes(10)}
      union all
      select 'events_not_dispatched', min(created_at), count(*)::int from (
        select created_at from events where position is null order by id limit 1000) e
      where created_at < ${minutes(2)}
      union all
      select 'telephony_stopped', min(created_at), count(*)::int from telephony_stops
      union all
      select name, since, count from alarms
      where last_at > clock_timestamp() - ${RAISED_HOURS} * interval '1 hour'
    ) found
    where since is not null order by since, name`;
  return rows;
}

/** Raises an alarm about a single fact. It keeps its first time while it is raised again within 24 hours. */
export async function raiseAlarm(sql: Queryable, name: string): Promise<void> {
  await sql`
    insert into alarms as a (name, since, last_at, count)
    values (${name}, clock_timestamp(), clock_timestamp(), 1)
    on conflict (name) do update
    set since = case when a.last_at < excluded.last_at - ${RAISED_HOURS} * interval '1 hour'
        then excluded.since else a.since end,
      count = case when a.last_at < excluded.last_at - ${RAISED_HOURS} * interval '1 hour'
        then 1 else a.count + 1 end,
      last_at = excluded.last_at`;
}
