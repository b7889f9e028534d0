import type { Queryable } from '../platform/postgres/sql.ts';
import { reportErrors } from './errors.ts';
import { findOwnAgents, type OwnAgent } from './own-agents-store.ts';

/** Returns the agents of an account, or one of them. Throws 404 for an agent that the account does not have. */
export async function ownAgents(
  sql: Queryable,
  accountId: string,
  agentId?: number | undefined,
): Promise<readonly OwnAgent[]> {
  const agents = await findOwnAgents(sql, accountId);
  if (agentId === undefined) return agents;
  const agent = agents.find(({ id }) => id === agentId);
  if (agent === undefined) throw reportErrors.agentNotFound();
  return [agent];
}
