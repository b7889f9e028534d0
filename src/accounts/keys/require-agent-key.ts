import { errors } from '../../kernel/errors.ts';
import type { Queryable } from '../../platform/postgres/sql.ts';
import { findAgentKeys } from './agent-key-store.ts';
import type { AgentKey } from './key.ts';

/** Throws 404 for a key that its agent does not have, or has no longer. */
export async function requireAgentKey(
  sql: Queryable,
  agentId: number,
  keyId: number,
): Promise<AgentKey> {
  const key = (await findAgentKeys(sql, agentId)).find(({ id }) => id === keyId);
  if (key === undefined) throw errors.keys.notFound();
  return key;
}
