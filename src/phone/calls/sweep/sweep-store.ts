import { usageOfSession } from '../../../ledger/engine/take-session.ts';
import type { Sql } from '../../../platform/postgres/sql.ts';
import type { LegCosts } from '../../rate-card.ts';
import { isLeftToCarrier } from '../call-meter.ts';

/** What the sweeper reads of a call before it settles it in the place of its process. */

/** Whether a living process holds the session of a call, and has not left the call to its carrier. */
export async function isHeldByLiving(sql: Sql, callId: string): Promise<boolean> {
  const rows = await sql`
    select 1 from sessions s join leases l on l.node_id = s.node_id and l.epoch = s.lease_epoch
    where s.id = ${callId} and s.ended_at is null and l.expires_at > clock_timestamp()`;
  if (rows.length === 0) return false;
  return !isLeftToCarrier(await usageOfSession(sql, callId));
}

/** What the history has of the legs of a settled call. */
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

/** How long a settled call was, as its receipt says. Undefined: there is no receipt. */
export async function receiptSeconds(sql: Sql, callId: string): Promise<number | undefined> {
  const [row] = await sql<{ seconds: number }[]>`
    select (e.payload ->> 'durationSeconds')::int as seconds
    from calls c join events e on e.account_id = c.account_id and e.created_at >= c.created_at
      and e.correlation_id = c.id and e.name = 'call.ended'
    where c.id = ${callId}`;
  return row?.seconds;
}
