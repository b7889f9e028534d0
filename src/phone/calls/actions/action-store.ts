import type { Sql } from '../../../platform/postgres/sql.ts';
import type { AnsweredBy } from '../../carriers/carrier.ts';

/** Stores the carrier's report of who answered. A late report cannot change `machine_end`, a person or a fax. */
export async function noteAnsweredBy(
  sql: Sql,
  callId: string,
  answeredBy: AnsweredBy,
): Promise<void> {
  await sql`update calls set answered_by = ${answeredBy}
    where id = ${callId} and (answered_by is null or answered_by = 'unknown'
      or (answered_by = 'machine_start' and ${answeredBy} <> 'unknown'))`;
}

/** Returns the carrier's verdict on who answered. Null when the carrier has not reported it. */
export async function findAnsweredBy(sql: Sql, callId: string): Promise<AnsweredBy | null> {
  const [row] = await sql<{ answered_by: AnsweredBy | null }[]>`
    select answered_by from calls where id = ${callId}`;
  return row?.answered_by ?? null;
}

/** Stores the summary that the carrier reads to the target of a transfer. Null: the carrier reads no summary. */
export async function noteTransferSummary(
  sql: Sql,
  callId: string,
  summary: string | null,
): Promise<void> {
  await sql`update calls set transfer_summary = ${summary} where id = ${callId}`;
}

export async function findTransferSummary(sql: Sql, callId: string): Promise<string | null> {
  const [row] = await sql<{ transfer_summary: string | null }[]>`
    select transfer_summary from calls where id = ${callId}`;
  return row?.transfer_summary ?? null;
}

/** Stores the handoff data that the responder of a call leaves for its developer. */
export async function noteHandoff(sql: Sql, callId: string, data: string): Promise<void> {
  await sql`update calls set handoff_data = ${data} where id = ${callId}`;
}

/** Adds a note for the responder to the history, unless the last turn is the same note, as after a repeated callback. */
export async function addNote(sql: Sql, callId: string, content: string): Promise<void> {
  await sql`
    insert into call_turns (call_id, seq, role, content)
    select ${callId}, coalesce((select max(seq) from call_turns where call_id = ${callId}), 0) + 1,
      'user', ${content}
    where not exists (
      select 1 from call_turns t where t.call_id = ${callId} and t.content = ${content}
        and t.seq = (select max(seq) from call_turns where call_id = ${callId}))`;
}

export async function findLastTurn(sql: Sql, callId: string): Promise<string | undefined> {
  const [row] = await sql<{ content: string }[]>`
    select content from call_turns where call_id = ${callId} order by seq desc limit 1`;
  return row?.content;
}
