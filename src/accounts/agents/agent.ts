export type AgentStatus = 'pending_delegation' | 'active' | 'suspended' | 'closed';
export type FundingMode = 'wallet' | 'credit_line';

/** An agent of a developer, with its wallet, its balance and its limits. */
export type Agent = {
  readonly id: number;
  readonly accountId: string;
  readonly name: string;
  readonly status: AgentStatus;
  readonly suspendedReason: string | null;
  readonly mode: string;
  readonly fundingMode: FundingMode;
  /** Address of the agent's wallet in lower case. Null until the agent is provisioned. */
  readonly walletAddress: string | null;
  readonly borrowLimitRaw: bigint | null;
  readonly maxRateBps: number;
  readonly expirySeconds: number;
  /** End of the delegation in Unix seconds, which matters for a credit line only. Null until the agent is provisioned. */
  readonly operatorExpiry: number | null;
  readonly delegationTxHash: string | null;
  /** True while the agent's own keys may only tighten its controls. */
  readonly selfServiceLocked: boolean;
  /** Limit on all spending since `startedAt`, until it is set anew; null: no such limit. */
  readonly session: { readonly limitRaw: bigint; readonly startedAt: Date } | null;
  /** Number of failed attempts at provisioning, and the time of the next attempt. */
  readonly provisionAttempts: number;
  readonly provisionNextAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly closedAt: Date | null;
};

/** Status that a developer may request. */
export type WantedStatus = 'active' | 'suspended';

export type StatusPlan =
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'change'; readonly suspendedReason: string | null }
  | { readonly kind: 'impossible' };

/**
 * Plans a change of status: only an active agent is suspended, and only a suspended agent is resumed. A request for the present
 * status changes nothing.
 */
export function planStatus(from: AgentStatus, to: WantedStatus, reason: string): StatusPlan {
  if (from === to) return { kind: 'unchanged' };
  if (from !== 'active' && from !== 'suspended') return { kind: 'impossible' };
  return { kind: 'change', suspendedReason: to === 'suspended' ? reason : null };
}

/**
 * Returns true while a delegation holds: the agent is open and the delegation has not expired. A prepaid agent's delegation
 * does not expire.
 */
export const isDelegationActive = (agent: Agent, nowSec: number): boolean =>
  (agent.status === 'active' || agent.status === 'suspended') &&
  agent.operatorExpiry !== null &&
  (agent.fundingMode === 'wallet' || agent.operatorExpiry > nowSec);

/**
 * Returns the delay before provisioning is tried again after `attempts` failures. It doubles with each failure, up to
 * `bounds.max`.
 */
export const retryDelayMs = (
  attempts: number,
  bounds: { readonly first: number; readonly max: number },
): number => Math.min(bounds.max, bounds.first * 2 ** attempts);

/** The provisioning step that a pending agent waits for, and the time of its next attempt. */
export type Provisioning = {
  readonly step: 'managed_wallet' | 'delegation';
  readonly attempts: number;
  readonly nextAttemptAt: Date | null;
};

/** Returns the state of an agent's provisioning. Undefined once the agent has been provisioned or is closed. */
export function provisioningOf(agent: Agent): Provisioning | undefined {
  if (agent.status !== 'pending_delegation') return undefined;
  return {
    step: agent.walletAddress === null ? 'managed_wallet' : 'delegation',
    attempts: agent.provisionAttempts,
    nextAttemptAt: agent.provisionNextAt,
  };
}
