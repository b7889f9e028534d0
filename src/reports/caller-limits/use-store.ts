import type { Queryable } from '../../platform/postgres/sql.ts';
import type { Counted } from './limit-table.ts';

/** Number of objects of each kind, and the limits that differ from the usual ones. */
export type Use = Readonly<Partial<Record<Counted, number>>> & {
  /** Calls at a time that were set for this account or agent. Null: nothing was set. */
  readonly callsAtOnce: number | null;
};

const inForce = (sql: Queryable) => sql`revoked_at is null
  and (effective_until is null or effective_until > extract(epoch from now()))
  and (expires_at is null or expires_at > extract(epoch from now()))`;

/** Counts the objects of an account. */
export async function findAccountUse(sql: Queryable, accountId: string): Promise<Use> {
  const [row] = await sql<Use[]>`
    select
      (select count(*)::int from agents where account_id = ${accountId} and status <> 'closed')
        as agents,
      (select count(*)::int from developer_keys where account_id = ${accountId}
        and revoked_at is null and (expires_at is null or expires_at > now())) as "developerKeys",
      (select count(*)::int from webhooks where account_id = ${accountId}) as webhooks,
      (select count(*)::int from policies where account_id = ${accountId} and agent_id is null
        and ${inForce(sql)}) as "teamPolicies",
      (select count(*)::int from do_not_call where account_id = ${accountId}) as "doNotCall",
      (select count(*)::int from calls where account_id = ${accountId} and not terminal)
        as "accountCalls",
      (select calls from call_limits where account_id = ${accountId}) as "callsAtOnce"`;
  return row ?? { callsAtOnce: null };
}

/** Counts the objects of an agent. The session limit and the budgets of keys are no policies of their own here. */
export async function findAgentUse(sql: Queryable, agentId: number): Promise<Use> {
  const [row] = await sql<Use[]>`
    select
      (select count(*)::int from agent_keys where agent_id = ${agentId} and revoked_at is null)
        as "agentKeys",
      (select count(*)::int from policies where agent_id = ${agentId}
        and kind not in ('session', 'key') and ${inForce(sql)}) as "agentPolicies",
      (select count(*)::int from credit_thresholds where agent_id = ${agentId})
        as "creditThresholds",
      (select count(*)::int from call_batches where agent_id = ${agentId}
        and status in ('running', 'paused')) as "agentBatches",
      (select count(*)::int from calls where agent_id = ${agentId} and not terminal) as "agentCalls",
      (select calls_at_once from voice_settings where agent_id = ${agentId}) as "callsAtOnce"`;
  return row ?? { callsAtOnce: null };
}
