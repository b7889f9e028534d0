import type { Queryable } from '../../../platform/postgres/sql.ts';
import { endKeyBudget } from '../../../spend/limits/key-budgets.ts';
import type { Invalidation } from '../../keys/invalidation.ts';
import { revokeAgentKeysOf, revokeDeveloperKeysOf } from './member-store.ts';

export type Revoked = { readonly count: number; readonly notices: readonly Invalidation[] };

export const NONE_REVOKED: Revoked = { count: 0, notices: [] };

type Issuer = { readonly accountId: string; readonly wallet: string; readonly nowMs: number };

/** Revokes the agent keys that a member issued, and ends their budgets. */
export async function revokeAgentKeys(
  tx: Queryable,
  { accountId, wallet, nowMs }: Issuer,
): Promise<Revoked> {
  const keys = await revokeAgentKeysOf(tx, { accountId, wallet, now: new Date(nowMs) });
  const working = keys.filter(({ isClosed }) => !isClosed);
  for (const { agentId, rootId } of working) {
    await endKeyBudget(tx, { agentId, accountId }, rootId, nowMs);
  }
  // An agent that is closed has no socket and no call: dropping it from the caches ends its keys.
  const closed = new Set(keys.filter(({ isClosed }) => isClosed).map(({ agentId }) => agentId));
  return {
    count: keys.length,
    notices: [
      ...working.map(
        ({ agentId, keyId }) => ({ kind: 'agent_key_revoked', agentId, keyId }) as const,
      ),
      ...[...closed].map((agentId) => ({ kind: 'agent_changed', agentId }) as const),
    ],
  };
}

/** Revokes all keys that a member issued. */
export async function revokeAllKeys(tx: Queryable, issuer: Issuer): Promise<Revoked> {
  const { accountId, wallet, nowMs } = issuer;
  const ofAgents = await revokeAgentKeys(tx, issuer);
  const ids = await revokeDeveloperKeysOf(tx, { accountId, wallet, now: new Date(nowMs) });
  const notices = ids.map((keyId) => ({ kind: 'developer_key_revoked', keyId }) as const);
  return { count: ofAgents.count + ids.length, notices: [...ofAgents.notices, ...notices] };
}
