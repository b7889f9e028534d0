import type { Queryable } from '../../platform/postgres/sql.ts';
import type { CallStatus } from '../calls/advance-call.ts';
import type { Call } from '../calls/call.ts';

/** A call in the answer of the route that places calls. */
export type PlacedCall = Pick<Call, 'callId' | 'from' | 'to' | 'taskId'> & {
  /** `queued` until the call is answered or over, then the status of the call. */
  readonly status: 'queued' | CallStatus;
};

type Standing = Pick<Call, 'callId' | 'from' | 'to' | 'taskId' | 'status' | 'terminal'>;

export const placedCall = ({
  callId,
  from,
  to,
  taskId,
  status,
  terminal,
}: Standing): PlacedCall => ({
  callId,
  from,
  to,
  taskId,
  status: status === 'pending' && !terminal ? 'queued' : status,
});

/** Returns the present state of the call that the request with this `Idempotency-Key` placed. Undefined when it placed none. */
export async function findPlacedCall(
  sql: Queryable,
  by: { readonly agentId: number; readonly workId: string },
): Promise<PlacedCall | undefined> {
  const [row] = await sql<Standing[]>`
    select id as "callId", from_number as "from", to_number as "to", task_id as "taskId", status, terminal
    from calls where work_id = ${by.workId} and agent_id = ${by.agentId}`;
  return row && placedCall(row);
}

/** Returns true while a hold is open. Another process releases the holds of a process that it takes for dead. */
export async function isStillHeld(sql: Queryable, holdId: string): Promise<boolean> {
  const rows = await sql`select 1 from postings where id = ${`resolve:${holdId}`}`;
  return rows.length === 0;
}
