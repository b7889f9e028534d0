import type { Queryable } from '../../platform/postgres/sql.ts';
import { keyErrors } from '../errors.ts';
import { findAgentKeys } from './agent-key-store.ts';
import type { AgentKey } from './key.ts';

/** Returns a working key of an agent. Throws 404 when the agent has no such key or it was revoked. */
export async function requireAgentKey(
  sql: Queryable,
  agentId: number,
  keyId: number,
): Promise<AgentKey> {
  const key = (await findAgentKeys(sql, agentId)).find(({ id }) => id === keyId);
  if (key === undefined) throw keyErrors.notFound();
  return key;
}
