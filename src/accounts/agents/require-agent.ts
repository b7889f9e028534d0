import type { Queryable } from '../../platform/postgres/sql.ts';
import { agentErrors } from '../errors.ts';
import type { Agent } from './agent.ts';
import { type AgentRef, findAgent, lockAgent } from './agent-store.ts';

/** Returns an agent. Throws 404 when it does not exist or, with an account in `ref`, belongs to another account. */
export async function requireAgent(sql: Queryable, ref: AgentRef): Promise<Agent> {
  return found(await findAgent(sql, ref));
}

/** Returns an agent like `requireAgent`, and locks its row until the sql transaction ends. */
export async function requireLockedAgent(tx: Queryable, ref: AgentRef): Promise<Agent> {
  return found(await lockAgent(tx, ref));
}

function found(agent: Agent | undefined): Agent {
  if (agent === undefined) throw agentErrors.notFound();
  return agent;
}
