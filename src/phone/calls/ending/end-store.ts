import type { CallEndReason } from '../../../../machines/call.ts';
import type { Sql } from '../../../platform/postgres/sql.ts';
import type { AnsweredBy } from '../../carriers/carrier.ts';

/** Facts of a call's row that its receipt repeats. `answeredBy`: null when the carrier has not reported who answered. */
export type RowEnd = { readonly reason: CallEndReason; readonly answeredBy: AnsweredBy | null };

/**
 * Writes the end reason of a call, unless its row has one, if the session's claim still has this epoch. Returns the end as the
 * row has it. Undefined when another process has claimed the session.
 */
export async function giveEndReason(
  sql: Sql,
  { callId, epoch }: { readonly callId: string; readonly epoch: number },
  reason: CallEndReason,
): Promise<RowEnd | undefined> {
  const [row] = await sql<RowEnd[]>`
    update calls set end_reason = coalesce(end_reason, ${reason})
    where id = ${callId} and exists (
      select from sessions s where s.id = calls.id and s.epoch = ${epoch} and s.ended_at is null)
    returning end_reason as reason, answered_by as "answeredBy"`;
  return row;
}

/**
 * Reads the ledger's ending of the call's session, and the row's end reason. Undefined when the session is open or never began.
 */
export async function findSessionEnd(
  sql: Sql,
  callId: string,
): Promise<{ readonly ending: string; readonly given: CallEndReason | null } | undefined> {
  const [row] = await sql<{ ending: string; given: CallEndReason | null }[]>`
    select s.end_reason as ending, c.end_reason as given
    from sessions s join calls c on c.id = s.id
    where s.id = ${callId} and s.ended_at is not null`;
  return row;
}

/** Option of a transferred call whose line the carrier is to hang up. */
export const DROPPED = JSON.stringify({ isDropped: true });

/** Requests the end of a transferred call, whose line no process has: the sweeper has the carrier hang up at once. */
export async function dropTransferred(sql: Sql, callId: string): Promise<void> {
  await sql`update calls set options = options || ${DROPPED}::text::jsonb, due_at = now()
    where id = ${callId} and not terminal and end_reason = 'call_transfer'`;
}

/**
 * Returns the given calls that must end: `agent_ended` when a hang-up was requested, `suspended` when the agent is suspended or
 * closed, or the key of the call is revoked.
 */
export async function findUnwanted(
  sql: Sql,
  callIds: readonly string[],
): Promise<readonly { readonly id: string; readonly reason: CallEndReason }[]> {
  return sql<{ id: string; reason: CallEndReason }[]>`
    select c.id, case when asked.is_asked then 'agent_ended' else 'suspended' end as reason
    from calls c join agents a on a.id = c.agent_id
      left join agent_keys k on k.id = c.key_id
      cross join lateral (
        select c.status = 'ending' and c.end_reason = 'agent_ended' as is_asked) asked
    where c.id = any (${callIds as string[]}::text[])
      and (asked.is_asked or a.status in ('suspended', 'closed') or k.revoked_at is not null)`;
}
