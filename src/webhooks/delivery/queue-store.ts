import type { DeliveryStatus } from '../../../machines/webhook-delivery.ts';
import type { EventRow } from '../../ledger/rules/companion.ts';
import { insertEvents } from '../../ledger/store/agent-funds.ts';
import { numberArray, textArray } from '../../platform/postgres/pg-array.ts';
import type { Sql } from '../../platform/postgres/sql.ts';
import { WEBHOOK_LIMITS } from '../limits.ts';

/** A delivery that only this process may send, until `dueAt`. */
export type ClaimedDelivery = {
  readonly id: bigint;
  readonly deliveryId: string;
  readonly webhookId: number;
  readonly accountId: string;
  readonly url: string;
  readonly status: DeliveryStatus;
  /** Number of attempts made before this claim. */
  readonly attempt: number;
  readonly dueAt: Date;
  readonly event: string;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly position: bigint | null;
  readonly firedAt: Date;
  readonly sealedSecret: Buffer;
  readonly sealedPrevious: Buffer | null;
};

/** Number of attempts under way in this process, by the endpoint's id. */
export type Busy = ReadonlyMap<number, number>;

/**
 * Recursive query over the webhooks that have due deliveries, stepping over the index from one webhook to the next. Its last
 * row has no webhook.
 */
const queues = (sql: Sql) => sql`
  (select webhook_id from webhook_deliveries
    where due_at is not null order by webhook_id, due_at limit 1)
  union all
  select (select d.webhook_id from webhook_deliveries d
    where d.due_at is not null and d.webhook_id > q.webhook_id
    order by d.webhook_id, d.due_at limit 1)
  from queues q where q.webhook_id is not null`;

/**
 * Claims due deliveries: at most `limit` in all, and from each endpoint up to its free slots, which are fewer while it fails.
 * Thus an endpoint that does not answer delays only its own queue. An endpoint with `maxPerSecond` is claimed from once a
 * second, by one process. The length of a queue does not slow the query.
 */
export async function claimDue(
  sql: Sql,
  { busy, limit, nowMs }: { readonly busy: Busy; readonly limit: number; readonly nowMs: number },
): Promise<ClaimedDelivery[]> {
  const { claimMs, inFlightPerEndpoint, inFlightPerFailing } = WEBHOOK_LIMITS.queue;
  const now = new Date(nowMs);
  const until = new Date(nowMs + claimMs);
  return sql<ClaimedDelivery[]>`
    with recursive queues as (${queues(sql)}),
    waiting as materialized (
      select w.id, w.max_per_second,
        case when w.failing_since is null then ${inFlightPerEndpoint}::int
          else ${inFlightPerFailing}::int end - coalesce(b.busy, 0) as free
      from queues q join webhooks w on w.id = q.webhook_id and w.active
      left join unnest(${[...busy.keys()]}::int[], ${[...busy.values()]}::int[]) as b(id, busy)
        on b.id = w.id
      where exists (select 1 from webhook_deliveries d
        where d.webhook_id = w.id and d.due_at is not null and d.due_at <= ${now})),
    paced as (
      update webhooks w set next_claim_at = ${now}::timestamptz + interval '1 second'
      from waiting where w.id = waiting.id and waiting.max_per_second is not null
        and waiting.free > 0 and (w.next_claim_at is null or w.next_claim_at <= ${now})
      returning w.id, least(waiting.max_per_second, waiting.free) as free),
    open_to as (
      select id, free from waiting where max_per_second is null and free > 0
      union all select id, free from paced),
    due as materialized (
      select d.id from open_to o, lateral (
        select id from webhook_deliveries
        where webhook_id = o.id and due_at is not null and due_at <= ${now}
        order by due_at limit o.free for update skip locked) d
      limit ${limit})
    update webhook_deliveries d set due_at = ${until}
    from due, webhooks w, webhook_deliveries own left join events e on e.id = own.event_id
    where d.id = due.id and own.id = d.id and w.id = d.webhook_id
    returning d.id, d.delivery_id as "deliveryId", d.webhook_id as "webhookId",
      d.account_id as "accountId", w.url, d.status, d.attempt, d.due_at as "dueAt", d.event,
      coalesce(d.payload, e.payload) as payload, e.position, coalesce(e.created_at, d.created_at) as "firedAt",
      w.sealed_secret as "sealedSecret",
      case when w.previous_until > ${now} then w.sealed_previous end as "sealedPrevious"`;
}

/** Outcome of an attempt, and the time of the next attempt. Null: no attempt follows. */
export type AttemptOutcome = {
  readonly id: bigint;
  readonly webhookId: number;
  /**
   * End of the claim under which the attempt was made. After a later claim, this outcome is not written
   * to the delivery.
   */
  readonly claimedUntil: Date;
  readonly status: DeliveryStatus;
  readonly attempt: number;
  readonly statusCode: number | null;
  readonly error: string | null;
  readonly responseBody: string | null;
  readonly nextAt: Date | null;
};

/** An endpoint that these outcomes switched off. */
export type Deactivated = {
  readonly id: number;
  readonly accountId: string;
  readonly url: string;
  readonly reason: string;
};

/**
 * Writes outcomes and their effects on endpoints: a success clears the failures, a 410 or days of failures switch an endpoint
 * off. Each deactivation is an event for the other endpoints of its account, in the same commit.
 */
export async function recordOutcomes(
  sql: Sql,
  outcomes: readonly AttemptOutcome[],
  nowMs: number,
  deactivated: (endpoint: Deactivated) => EventRow,
): Promise<readonly Deactivated[]> {
  const { failingMs, failingSpanMs } = WEBHOOK_LIMITS.endpoint;
  const now = new Date(nowMs);
  const column = <T>(of: (outcome: AttemptOutcome) => T) => outcomes.map(of);
  const idsOf = (are: (outcome: AttemptOutcome) => boolean) => [
    ...new Set(outcomes.filter(are).map(({ webhookId }) => webhookId)),
  ];
  const succeeded = idsOf(({ status }) => status === 'success');
  const gone = idsOf(({ statusCode }) => statusCode === 410);
  // An endpoint that answered 410 is switched off even when another delivery to it has just succeeded.
  const failed = idsOf(({ status }) => status !== 'success').filter(
    (id) => !succeeded.includes(id) || gone.includes(id),
  );
  return sql.begin(async (tx) => {
    await tx`
      update webhook_deliveries d set status = x.status, attempt = x.attempt,
        status_code = x.status_code, error = x.error, response_body = x.response_body,
        due_at = x.next_at
      from unnest(${numberArray(column((o) => o.id))}::bigint[],
        ${textArray(column((o) => o.claimedUntil.toISOString()))}::timestamptz[],
        ${textArray(column((o) => o.status))}::text[],
        ${numberArray(column((o) => o.attempt))}::smallint[],
        ${numberArray(column((o) => o.statusCode))}::smallint[],
        ${textArray(column((o) => o.error))}::text[],
        ${textArray(column((o) => o.responseBody))}::text[],
        ${textArray(column((o) => o.nextAt?.toISOString() ?? null))}::timestamptz[])
        as x(id, claimed, status, attempt, status_code, error, response_body, next_at)
      where d.id = x.id and d.due_at = x.claimed`;
    if (succeeded.length > 0) {
      await tx`
        update webhooks set failing_since = null
        where id = any(${succeeded}::int[]) and failing_since is not null`;
    }
    if (failed.length === 0) return [];
    await tx`
      update webhooks set failing_since = ${now}
      where id = any(${failed}::int[]) and failing_since is null`;
    const off = await tx<Deactivated[]>`
      update webhooks w set active = false,
        inactive_reason = case when w.id = any(${gone}::int[])
          then 'The endpoint answered 410 Gone.'
          else 'Every attempt has failed for 5 days.' end
      where w.id = any(${failed}::int[]) and w.active and (w.id = any(${gone}::int[])
        or w.failing_since <= ${new Date(nowMs - Math.max(failingMs, failingSpanMs))})
      returning w.id, w.account_id as "accountId", w.url, w.inactive_reason as reason`;
    await insertEvents(tx, off.map(deactivated));
    return off;
  }) as Promise<readonly Deactivated[]>;
}

/**
 * Fails queued deliveries of endpoints that are off or deleted, a bounded number of rows. Returns the number of failed
 * deliveries.
 */
export async function failStranded(sql: Sql): Promise<number> {
  const rows = await sql`
    update webhook_deliveries d set status = 'failed', due_at = null,
      error = 'The webhook was switched off or deleted'
    from (
      with recursive queues as (${queues(sql)})
      select d.id from queues q, lateral (
        select id from webhook_deliveries
        where webhook_id = q.webhook_id and due_at is not null
        limit ${WEBHOOK_LIMITS.kept.sweptPerStep} for update skip locked) d
      where q.webhook_id is not null and not exists (
        select 1 from webhooks w where w.id = q.webhook_id and w.active)
      limit ${WEBHOOK_LIMITS.kept.sweptPerStep}) as stranded
    where d.id = stranded.id
    returning 1`;
  return rows.length;
}

/** Reads the number of rows that are due, and the age of the oldest. */
export async function readBacklog(
  sql: Sql,
  nowMs: number,
): Promise<{ readonly due: number; readonly oldestMs: number }> {
  const now = new Date(nowMs);
  const [row] = await sql<{ due: number; oldest: Date | null }[]>`
    select count(*)::int as due, min(due_at) as oldest from (
      select due_at from webhook_deliveries where due_at is not null and due_at <= ${now}
      limit 100000) as waiting`;
  const oldestMs = row?.oldest == null ? 0 : nowMs - row.oldest.getTime();
  return { due: row?.due ?? 0, oldestMs };
}
