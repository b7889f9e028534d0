import { errors } from '../../kernel/errors.ts';
import type { Queryable } from '../../platform/postgres/sql.ts';
import type { Agent } from './agent.ts';
import { type AgentRef, findAgent } from './agent-store.ts';

/** Throws 404 for an agent that does not exist, and for one of another account where the account is given. */
export async function requireAgent(sql: Queryable, ref: AgentRef): Promise<Agent> {
  const agent = await findAgent(sql, ref);
  if (agent === undefined) throw errors.agents.notFound();
  return agent;
}
