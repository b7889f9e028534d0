import type { Queryable } from '../../platform/postgres/sql.ts';

export type ToolOutcome = 'done' | 'failed';

/** A call of a tool as the report of a call has it. */
export type StoredToolCall = {
  readonly toolCallId: string;
  readonly name: string;
  readonly arguments: string;
  /** Outcome of the tool call. Null: it is in progress, or its process was lost. */
  readonly outcome: ToolOutcome | null;
  readonly result: string | null;
  /** Cost of the tool call when it ended. The ledger knows what a payment costs that was undecided then. */
  readonly costRaw: bigint;
  readonly at: Date;
  readonly ms: number | null;
};

/** Writes a call of a tool down before it is made. False: one with its id is known already, or the call is over. */
export async function beginToolCall(
  sql: Queryable,
  callId: string,
  call: { readonly toolCallId: string; readonly name: string; readonly argumentsJson: string },
): Promise<boolean> {
  const rows = await sql`
    insert into call_tools (call_id, tool_call_id, name, arguments)
    select id, ${call.toolCallId}, ${call.name}, ${call.argumentsJson} from calls
    where id = ${callId} and not terminal
    on conflict do nothing returning 1`;
  return rows.length > 0;
}

export async function endToolCall(
  sql: Queryable,
  callId: string,
  toolCallId: string,
  end: {
    readonly outcome: ToolOutcome;
    readonly result: string;
    readonly costRaw: bigint;
    readonly ms: number;
  },
): Promise<void> {
  await sql`
    update call_tools set outcome = ${end.outcome}, result = ${end.result},
      cost_raw = ${end.costRaw.toString()}, ms = ${Math.round(end.ms)}
    where call_id = ${callId} and tool_call_id = ${toolCallId} and outcome is null`;
}

/** Returns the tool calls of a call, oldest first. */
export async function findToolCalls(
  sql: Queryable,
  callId: string,
  limit: number,
): Promise<StoredToolCall[]> {
  const rows = await sql<StoredToolCall[]>`
    select tool_call_id as "toolCallId", name, arguments, outcome, result, cost_raw as "costRaw", at, ms from call_tools
    where call_id = ${callId} order by at, tool_call_id limit ${limit}`;
  return [...rows];
}

export async function forgetToolCalls(sql: Queryable, callId: string): Promise<void> {
  await sql`delete from call_tools where call_id = ${callId}`;
}
