import { errors } from '../../kernel/errors.ts';
import type { Queryable } from '../../platform/postgres/sql.ts';
import type { Agent } from './agent.ts';
import { type AgentRef, findAgent, lockAgent } from './agent-store.ts';

/** Throws 404 for an agent that does not exist, and for one of another account where the account is given. */
export async function requireAgent(sql: Queryable, ref: AgentRef): Promise<Agent> {
  return found(await findAgent(sql, ref));
}

/** As `requireAgent`, and holds the row until the sql transaction ends. */
export async function requireLockedAgent(tx: Queryable, ref: AgentRef): Promise<Agent> {
  return found(await lockAgent(tx, ref));
}

function found(agent: Agent | undefined): Agent {
  if (agent === undefined) throw errors.agents.notFound();
  return agent;
}
