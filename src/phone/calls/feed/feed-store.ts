import type { Sql } from '../../../platform/postgres/sql.ts';
import type { CallState, NumberedTurn } from './feed-event.ts';

/** The state and the cost of a call as its rows have them, at whichever process it lives. */
export type CallNow = CallState & { readonly costRaw: bigint };

/**
 * Reads the state and the cost of a call, including the holds of its models, which are named after the call. Undefined when
 * there is no such call.
 */
export async function findCallNow(sql: Sql, callId: string): Promise<CallNow | undefined> {
  const [row] = await sql<CallNow[]>`
    select c.status, c.terminal, c.end_reason as "endReason", case when c.terminal
      then (select coalesce(sum(h.cost_raw), 0) from charges h where h.agent_id = c.agent_id
        and h.created_at >= c.created_at and h.session_id = c.id)
      else (select coalesce(sum(j.cost_raw), 0) from session_journal j where j.session_id = c.id
        or (j.session_id > ${`${callId}.`} and j.session_id < ${`${callId}/`})) end::bigint as "costRaw"
    from calls c where c.id = ${callId}`;
  return row;
}

/** Returns the latest turns with a number above `afterSeq`, in order. */
export async function findNumberedTurns(
  sql: Sql,
  callId: string,
  { afterSeq, limit }: { readonly afterSeq: number; readonly limit: number },
): Promise<readonly NumberedTurn[]> {
  const rows = await sql<(Omit<NumberedTurn, 'at'> & { at: Date })[]>`
    select seq, role, content as text, at from (
      select seq, role, content, at from call_turns
      where call_id = ${callId} and seq > ${afterSeq} order by seq desc limit ${limit}
    ) as latest order by seq`;
  return rows.map(({ at, role, seq, text }) => ({ seq, role, text, at: at.toISOString() }));
}

/** Answers whether a key is not revoked. */
export async function isKeyGood(
  sql: Sql,
  kind: 'agent' | 'developer',
  keyId: number,
): Promise<boolean> {
  const table = sql(kind === 'agent' ? 'agent_keys' : 'developer_keys');
  const rows = await sql`select from ${table} where id = ${keyId} and revoked_at is null`;
  return rows.length > 0;
}

/** Answers whether a wallet is a member of an account, or the account's own. */
export async function isMember(sql: Sql, accountId: string, wallet: string): Promise<boolean> {
  const rows = await sql`
    select from developers where account_id = ${accountId} and wallet = ${wallet}
    union all
    select from members where account_id = ${accountId} and wallet = ${wallet}`;
  return rows.length > 0;
}
