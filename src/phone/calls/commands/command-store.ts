import type { Sql } from '../../../platform/postgres/sql.ts';
import type { LiveCommand } from './live-command.ts';

/**
 * Stores a command of an answered call. Returns false when the call has had `most` commands. A repeated `workId` stores
 * nothing.
 */
export async function addCommand(
  sql: Sql,
  callId: string,
  {
    command,
    most,
    workId,
  }: { readonly command: LiveCommand; readonly most: number; readonly workId: string | undefined },
): Promise<boolean> {
  return sql.begin(async (tx) => {
    // Commands of a call are written one after another, so that two processes do not count past each other.
    await tx`select from calls where id = ${callId} for no key update`;
    const [counted] = await tx<{ commands: number }[]>`
      select count(*)::int as commands from call_commands where call_id = ${callId}`;
    if ((counted?.commands ?? 0) >= most) return false;
    await tx`insert into call_commands (call_id, work_id, command)
      values (${callId}, ${workId ?? null}, ${tx.json(command)})
      on conflict (work_id) where work_id is not null do nothing`;
    return true;
  });
}

/** Takes the waiting commands of these calls, in their order. Each is taken once, also where its process is lost after that. */
export async function takeCommands(
  sql: Sql,
  callIds: readonly string[],
): Promise<readonly { readonly callId: string; readonly command: LiveCommand }[]> {
  const rows = await sql<{ id: number; callId: string; command: LiveCommand }[]>`
    update call_commands set taken_at = now()
    where call_id = any (${callIds as string[]}::text[]) and taken_at is null
    returning id, call_id as "callId", command`;
  return rows.toSorted((a, b) => a.id - b.id);
}

/** Returns the system messages that were added to a call by now, for a process that takes over the call. */
export async function findInjected(sql: Sql, callId: string): Promise<readonly string[]> {
  const rows = await sql<{ text: string }[]>`
    select command ->> 'text' as text from call_commands
    where call_id = ${callId} and command ->> 'kind' = 'inject' and taken_at is not null order by id`;
  return rows.map(({ text }) => text);
}
