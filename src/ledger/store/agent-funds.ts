import { storableJson } from '../../kernel/storable.ts';
import type { Queryable } from '../../platform/postgres/sql.ts';
import type { EventRow } from '../rules/companion.ts';

/** Inserts a new agent's empty balance. Call it in the sql transaction that creates the agent. */
export async function insertAgentFunds(
  tx: Queryable,
  agent: { readonly agentId: number; readonly accountId: string },
): Promise<void> {
  await tx`insert into agent_funds (agent_id, account_id) values (${agent.agentId}, ${agent.accountId})`;
}

/**
 * Marks the agent's rules (status, keys, expiry, policies) as changed. Call it in the sql transaction of the change: from its
 * commit on, every decision on the former rules fails its fence, in every process. Several agents are raised in the order of
 * their ids.
 */
export async function bumpRules(tx: Queryable, agentId: number): Promise<void> {
  await tx`
    update agent_funds set version = version + 1, rules_version = rules_version + 1
    where agent_id = ${agentId}`;
}

/**
 * Raises the rules' version of all agents of an account, as `bumpRules` does for one. Locks the account's row first, so that an
 * agent being created is either raised here or reads the changes of this sql transaction. Skips closed agents without holds,
 * which never hold again. Returns the ids of the raised agents.
 */
export async function bumpTeamRules(tx: Queryable, accountId: string): Promise<readonly number[]> {
  await tx`select 1 from developers where account_id = ${accountId} for no key update`;
  const rows = await tx<{ agent_id: number }[]>`
    with mine as (
      select f.agent_id from agent_funds f join agents a on a.id = f.agent_id
      where f.account_id = ${accountId} and (a.status <> 'closed' or f.held_raw > 0)
      order by f.agent_id for no key update of f)
    update agent_funds f set version = f.version + 1, rules_version = f.rules_version + 1
    from mine where f.agent_id = mine.agent_id
    returning f.agent_id`;
  return rows.map((row) => row.agent_id).sort((a, b) => a - b);
}

/**
 * Writes event rows in the caller's sql transaction, for facts that move no money. Text that the database cannot store is left
 * out or replaced, so it never undoes the caller's other writes.
 */
export async function insertEvents(tx: Queryable, events: readonly EventRow[]): Promise<void> {
  for (const event of events) {
    await tx`
      insert into events (name, account_id, agent_wallet, correlation_id, webhook_id, payload)
      values (${event.name}, ${event.accountId}, ${event.agentWallet}, ${event.correlationId},
        ${event.webhookId ?? null}, ${storableJson(event.payload)}::text::jsonb)`;
  }
}
