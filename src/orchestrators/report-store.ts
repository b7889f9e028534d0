import type { PlatformCall } from '../ledger/rules/companion.ts';
import type { CountedCall } from '../ledger/rules/operation.ts';
import type { Queryable } from '../platform/postgres/sql.ts';

/** Row of a call that was reported before. */
export type KnownCall = CountedCall &
  Pick<PlatformCall, 'rank' | 'saidAtMs' | 'seen' | 'told' | 'taskId' | 'customerId'>;

type Row = {
  revision: number;
  cost_raw: bigint;
  rank: number;
  said_at_ms: bigint | null;
  seen: string[];
  told: string[];
  task_id: string | null;
  customer_id: string | null;
  counted_at: Date;
};

/** Returns the row of a call. Undefined before its first report. */
export async function findCall(
  sql: Queryable,
  { agentId, callId, provider }: Pick<PlatformCall, 'agentId' | 'callId' | 'provider'>,
): Promise<KnownCall | undefined> {
  const [row] = await sql<Row[]>`
    select revision, cost_raw, rank, said_at_ms, seen, told, task_id, customer_id, counted_at
    from platform_calls
    where agent_id = ${agentId} and provider = ${provider} and call_id = ${callId}`;
  return (
    row && {
      revision: row.revision,
      costRaw: row.cost_raw,
      rank: row.rank,
      saidAtMs: row.said_at_ms === null ? null : Number(row.said_at_ms),
      seen: row.seen,
      told: row.told,
      taskId: row.task_id,
      customerId: row.customer_id,
      countedAtMs: row.counted_at.getTime(),
    }
  );
}
