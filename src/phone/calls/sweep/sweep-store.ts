import { usageOfSession } from '../../../ledger/engine/take-session.ts';
import { textArray } from '../../../platform/postgres/pg-array.ts';
import type { Sql } from '../../../platform/postgres/sql.ts';
import type { CarrierName } from '../../carriers/carrier.ts';
import type { LegCosts } from '../../rate-card.ts';
import type { Call } from '../call.ts';
import { isLeftToCarrier } from '../call-meter.ts';
import { type CallRow, callColumns, callOf } from '../call-store.ts';
import { DROPPED } from '../ending/end-store.ts';

/** Queries of the sweeper: claims due calls, and reads a call before its settlement in place of its process. */

/**
 * Claims up to `limit` calls of a carrier that are due: no other process gets them for `claimMs`. Another carrier's call is
 * claimed once it has been due for `othersAfterMs`, because no process of its carrier claims it any more. A transferred call is
 * due at once when its agent is suspended or closed, or its key is revoked, and is dropped from then on.
 */
export async function claimDueCalls(
  sql: Sql,
  carrier: CarrierName,
  {
    claimMs,
    limit,
    othersAfterMs,
  }: { readonly limit: number; readonly claimMs: number; readonly othersAfterMs: number },
): Promise<Call[]> {
  const rows = await sql<CallRow[]>`
    with due (call_id, is_unwanted) as (
      select c.id, stop.is_unwanted from calls c cross join lateral (
        select case when c.end_reason = 'call_transfer' and c.options -> 'isDropped' is null then
            (select a.status in ('suspended', 'closed') from agents a where a.id = c.agent_id)
              or coalesce((select k.revoked_at is not null from agent_keys k where k.id = c.key_id), false)
            else false end as is_unwanted) stop
      where not c.terminal and (c.due_at <= now() or stop.is_unwanted)
        and (c.carrier = ${carrier} or c.due_at <= now() - ${othersAfterMs} * interval '1 millisecond')
      order by c.due_at limit ${limit} for update of c skip locked)
    update calls set due_at = now() + ${claimMs} * interval '1 millisecond',
      options = case when is_unwanted then options || ${DROPPED}::text::jsonb else options end
    from due where id = call_id
    returning ${callColumns(sql)}`;
  return rows.map(callOf);
}

/**
 * Stores the end of an answered call's line, unless it is stored. Returns the duration of the line in seconds, by the
 * database's clock.
 */
export async function noteLineOver(sql: Sql, callId: string): Promise<number> {
  const [row] = await sql<{ seconds: number }[]>`
    update calls set ended_at = coalesce(ended_at, now()) where id = ${callId}
    returning extract(epoch from ended_at - started_at)::float8 as seconds`;
  return row?.seconds ?? 0;
}

/** Returns true when a living process holds the session of a call and has not left the call to its carrier. */
export async function isHeldByLiving(sql: Sql, callId: string): Promise<boolean> {
  const rows = await sql`
    select 1 from sessions s join leases l on l.node_id = s.node_id and l.epoch = s.lease_epoch
    where s.id = ${callId} and s.ended_at is null and l.expires_at > clock_timestamp()`;
  if (rows.length === 0) return false;
  return !isLeftToCarrier(await usageOfSession(sql, callId));
}

/** Reads the costs of the legs of a settled call from the agent's charges. */
export async function chargedLegs(sql: Sql, callId: string): Promise<LegCosts> {
  const rows = await sql<{ target_url: string; cost_raw: bigint }[]>`
    select c.target_url, c.cost_raw from charges c join calls k on k.id = ${callId}
    where c.agent_id = k.agent_id and c.created_at >= k.created_at and c.session_id = ${callId}
      and c.target_url like 'phone://%'`;
  const of = (isLeg: (url: string) => boolean): bigint =>
    rows.reduce((sum, row) => (isLeg(row.target_url) ? sum + row.cost_raw : sum), 0n);
  return {
    transportRaw: of((url) => url.endsWith(callId)),
    sttRaw: of((url) => url.endsWith('/stt')),
    ttsRaw: of((url) => url.endsWith('/tts')),
  };
}

/** Reads the length of a settled call, in seconds, from its `call.ended` event. Undefined when there is no event. */
export async function receiptSeconds(sql: Sql, callId: string): Promise<number | undefined> {
  const [row] = await sql<{ seconds: number }[]>`
    select (e.payload ->> 'durationSeconds')::int as seconds
    from calls c join events e on e.account_id = c.account_id and e.created_at >= c.created_at
      and e.correlation_id = c.id and e.name = 'call.ended'
    where c.id = ${callId}`;
  return row?.seconds;
}

/** Returns the ids of the given calls that are over or were answered. */
export async function findUnringing(
  sql: Sql,
  callIds: readonly string[],
): Promise<readonly string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from calls
    where id = any (${textArray(callIds)}::text[]) and (terminal or started_at is not null)`;
  return rows.map(({ id }) => id);
}
