import type { Agent } from '../agents/agent.ts';

/** Permission of an operator on an agent's wallet, as the matcher contract keeps it. */
export type OperatorPermission = {
  readonly agentId: number;
  readonly wallet: string;
  readonly borrowLimitRaw: bigint;
  readonly maxRateBps: number;
  /** End of the delegation in Unix seconds. */
  readonly expiry: number;
};

/** Allows the facilitator to borrow for an agent, within bounds and into the agent's own wallet only. */
export interface Delegation {
  /** Grants the permission in place of an earlier grant, and resolves to the hash that proves it, or rejects. */
  grant(permission: OperatorPermission): Promise<string>;
}

/**
 * Delegates for an agent until `expiry`, and returns the hash that proves it. Null for a prepaid agent, which borrows nothing
 * and needs no delegation.
 */
export async function delegate(
  delegation: Delegation,
  agent: Agent,
  wallet: string,
  expiry: number,
): Promise<string | null> {
  const { id, borrowLimitRaw, maxRateBps } = agent;
  if (borrowLimitRaw === null) return null;
  return delegation.grant({ agentId: id, wallet, borrowLimitRaw, maxRateBps, expiry });
}
