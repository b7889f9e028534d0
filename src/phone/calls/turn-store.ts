import { numberArray, textArray } from '../../platform/postgres/pg-array.ts';
import type { Sql } from '../../platform/postgres/sql.ts';
import type { CallTurn, SaidTurn } from '../records/said-turn.ts';

/** A turn, with the id of its call. */
export type TurnOfCall = { readonly callId: string; readonly turn: SaidTurn };

/** The part of a turn that the peer heard before it interrupted. */
export type HeardOfTurn = {
  readonly callId: string;
  readonly seq: number;
  readonly heard: string;
};

/**
 * Inserts turns in one statement; the turns of one call must be in their order. Returns the number of each turn in its call, or
 * undefined for a call that is over.
 */
export async function addTurns(
  sql: Sql,
  turns: readonly TurnOfCall[],
): Promise<(number | undefined)[]> {
  const latencies = turns.map(({ turn: { latency } }) =>
    latency === undefined ? null : JSON.stringify(latency),
  );
  const rows = await sql<{ callId: string; seq: number }[]>`
    insert into call_turns (call_id, seq, role, content, latency, at)
    select k.id,
      coalesce((select max(t.seq) from call_turns t where t.call_id = k.id), 0)
        + row_number() over (partition by k.id order by said.n),
      said.role, said.content, said.latency::jsonb, said.at
    from unnest(${textArray(turns.map(({ callId }) => callId))}::text[],
      ${textArray(turns.map(({ turn }) => turn.role))}::text[],
      ${textArray(turns.map(({ turn }) => turn.content))}::text[],
      ${textArray(latencies)}::text[],
      ${textArray(turns.map(({ turn }) => turn.at.toISOString()))}::timestamptz[]
    ) with ordinality as said (call_id, role, content, latency, at, n)
    join calls k on k.id = said.call_id and not k.terminal
    returning call_id as "callId", seq`;
  const numbers = new Map<string, number[]>();
  for (const { callId, seq } of rows.toSorted((a, b) => b.seq - a.seq)) {
    const ofCall = numbers.get(callId);
    if (ofCall === undefined) numbers.set(callId, [seq]);
    else ofCall.push(seq);
  }
  return turns.map(({ callId }) => numbers.get(callId)?.pop());
}

/** Stores the part of each answer that the peer heard before an interruption. Each turn is named at most once. */
export async function noteHeard(sql: Sql, noted: readonly HeardOfTurn[]): Promise<void> {
  await sql`
    update call_turns t set heard = n.heard
    from unnest(${textArray(noted.map(({ callId }) => callId))}::text[],
      ${numberArray(noted.map(({ seq }) => seq))}::integer[],
      ${textArray(noted.map(({ heard }) => heard))}::text[]) as n (call_id, seq, heard)
    where t.call_id = n.call_id and t.seq = n.seq`;
}

/** Returns true when the last turn was stopped before the peer had heard the whole turn. */
export async function isLastTurnCut(sql: Sql, callId: string): Promise<boolean> {
  const [last] = await sql<{ isCut: boolean }[]>`
    select heard is not null as "isCut" from call_turns
    where call_id = ${callId} and coalesce(heard, content) <> '' order by seq desc limit 1`;
  return last?.isCut ?? false;
}

/** Returns the latest turns, up to the part that the peer heard. */
export async function findTurns(sql: Sql, callId: string, limit: number): Promise<CallTurn[]> {
  const rows = await sql<CallTurn[]>`
    select role, content from (
      select seq, role, coalesce(heard, content) as content from call_turns
      where call_id = ${callId} and coalesce(heard, content) <> '' order by seq desc limit ${limit}
    ) as latest order by seq`;
  return [...rows];
}
