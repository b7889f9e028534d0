import type { Sql } from '../../platform/postgres/sql.ts';
import { WEBHOOK_LIMITS } from '../limits.ts';

/** Inserts the only row of the counter of positions, in a database that does not have the row yet. */
export async function ensurePositions(sql: Sql): Promise<void> {
  await sql`insert into event_positions (last) values (0) on conflict do nothing`;
}

/** Number of dispatched events, and of their deliveries to all endpoints. */
export type Dispatched = { readonly events: number; readonly deliveries: number };

/**
 * Gives positions to the oldest events without one, and puts each event into the queue of every endpoint that had subscribed
 * before it happened. One process at a time does so; a process that finds the row of positions locked does nothing, so
 * positions become visible in order and a reader misses none. A process whose snapshot is older than another's commit sees the
 * other's events without positions: the update skips events that have a position by then. Positions may have gaps. Due times
 * are whole milliseconds, like the clocks of processes, so a claim in the same millisecond finds the delivery.
 */
export async function dispatchEvents(sql: Sql, limit: number): Promise<Dispatched> {
  const [row] = await sql<{ events: number; deliveries: number }[]>`
    with gate as materialized (
      select last from event_positions for update skip locked),
    batch as materialized (
      select e.id, e.name, e.account_id, e.agent_wallet, e.correlation_id, e.webhook_id,
        e.payload, e.created_at, gate.last + row_number() over (order by e.id) as position
      from gate, lateral (
        select * from events where position is null order by id limit ${limit}) e),
    moved as (
      update event_positions p set last = (select max(position) from batch)
      where exists (select 1 from batch) returning 1),
    placed as (
      update events e set position = b.position from batch b
      where e.id = b.id and e.position is null
      returning b.*),
    queued as (
      insert into webhook_deliveries
        (delivery_id, webhook_id, account_id, event_id, event, agent_wallet, correlation_id, due_at)
      select replace(gen_random_uuid()::text, '-', ''), w.id, w.account_id, b.id, b.name,
        b.agent_wallet, b.correlation_id, date_trunc('milliseconds', now())
      from placed b join webhooks w on w.active and w.created_at <= b.created_at and (
        b.webhook_id = w.id
        or (b.webhook_id is null
          and (b.account_id is null or b.account_id = w.account_id)
          and exists (select 1 from unnest(w.events) as p(pattern) where p.pattern = '*'
            or p.pattern = b.name
            or (right(p.pattern, 2) = '.*' and starts_with(b.name, left(p.pattern, -1))))
          and (b.account_id is null or case w.scope
            when 'global' then true
            when 'loan' then w.scope_value = b.payload ->> 'loanId'
            else w.scope_value = lower(b.agent_wallet) end)))
      order by b.position, w.id
      returning 1)
    select (select count(*) from placed)::int as events,
      (select count(*) from queued)::int as deliveries`;
  return row ?? { events: 0, deliveries: 0 };
}

/** An event at its position in the account's feed. */
export type FeedRow = {
  readonly position: bigint;
  readonly name: string;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly createdAt: Date;
};

/** Reads the events behind a position that belong to the account or to all accounts, oldest first. */
export async function readFeed(
  sql: Sql,
  accountId: string,
  { after, limit }: { readonly after: bigint; readonly limit: number },
): Promise<FeedRow[]> {
  return await sql<FeedRow[]>`
    (select position, name, payload, created_at as "createdAt" from events
      where account_id = ${accountId} and position > ${String(after)} order by position limit ${limit})
    union all
    (select position, name, payload, created_at from events
      where account_id is null and position > ${String(after)} order by position limit ${limit})
    order by position limit ${limit}`;
}

/** Reads the latest position of the events of all accounts. Later events get higher positions. */
export async function readLastPosition(sql: Sql): Promise<bigint> {
  const [row] = await sql<{ last: bigint }[]>`select last from event_positions`;
  return row?.last ?? 0n;
}

/**
 * Deletes expired deliveries, events and recoveries, a bounded number of rows each. Returns true when more rows may be left.
 */
export async function pruneOld(sql: Sql): Promise<boolean> {
  const { days: keptDays, prunedPerStep } = WEBHOOK_LIMITS.kept;
  const removed = await Promise.all([
    sql`delete from webhook_deliveries where id in (
      select id from webhook_deliveries where created_at < now() - ${keptDays} * interval '1 day'
      order by created_at limit ${prunedPerStep} for update skip locked) returning 1`,
    // The event of an agent's first payment is kept for ever: it proves that the next payment is not the first.
    sql`delete from events where id in (
      select id from events where created_at < now() - ${keptDays} * interval '1 day'
        and name <> 'x402.first_settlement' and position is not null
      order by created_at limit ${prunedPerStep} for update skip locked) returning 1`,
    sql`delete from webhook_recoveries where id in (
      select id from webhook_recoveries
      where finished_at < now() - ${keptDays} * interval '1 day'
      limit ${prunedPerStep} for update skip locked) returning 1`,
  ]);
  return removed.some(({ length }) => length === prunedPerStep);
}
