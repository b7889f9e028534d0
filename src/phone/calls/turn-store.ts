import type { Sql } from '../../platform/postgres/sql.ts';
import type { CallTurn, SaidTurn } from '../records/said-turn.ts';

/** Adds a turn to a call that is not over, and returns its number. */
export async function addTurn(sql: Sql, callId: string, turn: SaidTurn): Promise<number> {
  const latency = turn.latency === undefined ? null : sql.json(turn.latency);
  const [row] = await sql<{ seq: number }[]>`
    insert into call_turns (call_id, seq, role, content, latency, at)
    select k.id, (select coalesce(max(seq), 0) + 1 from call_turns where call_id = k.id),
      ${turn.role}, ${turn.content}, ${latency}::jsonb, ${turn.at}
    from calls k where k.id = ${callId} and not k.terminal
    returning seq`;
  return row?.seq ?? 0;
}

/** Notes what the far side heard of an answer before it interrupted. */
export async function noteHeard(
  sql: Sql,
  callId: string,
  seq: number,
  heard: string,
): Promise<void> {
  await sql`update call_turns set heard = ${heard} where call_id = ${callId} and seq = ${seq}`;
}

/** The latest turns, as far as the far side has heard them. */
export async function findTurns(sql: Sql, callId: string, limit: number): Promise<CallTurn[]> {
  const rows = await sql<CallTurn[]>`
    select role, content from (
      select seq, role, coalesce(heard, content) as content from call_turns
      where call_id = ${callId} and coalesce(heard, content) <> '' order by seq desc limit ${limit}
    ) as latest order by seq`;
  return [...rows];
}
