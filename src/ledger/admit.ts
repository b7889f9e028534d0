import type { HoldRefusal } from './ledger.ts';

/** What an agent may do, as of one `rulesVersion` of its row. */
export type Rules = {
  readonly status: 'pending_delegation' | 'active' | 'suspended' | 'closed';
  /** Unix seconds; null without a delegation. */
  readonly operatorExpirySec: number | null;
  /** Keys that are not revoked. */
  readonly keyIds: ReadonlySet<number>;
};

type Demand = {
  readonly keyId: number | undefined;
  readonly amountRaw: bigint;
  readonly spendableRaw: bigint;
  readonly nowSec: number;
};

const BY_STATUS = {
  pending_delegation: 'agent_not_active',
  suspended: 'agent_suspended',
  closed: 'agent_closed',
} as const;

/** Whether the agent may set this amount aside now. Undefined: it may. */
export function refusalOf(rules: Rules, demand: Demand): HoldRefusal | undefined {
  if (rules.status !== 'active') return { reason: BY_STATUS[rules.status] };
  if (demand.keyId !== undefined && !rules.keyIds.has(demand.keyId)) {
    return { reason: 'key_revoked' };
  }
  if (rules.operatorExpirySec !== null && demand.nowSec >= rules.operatorExpirySec) {
    return { reason: 'delegation_expired' };
  }
  if (demand.amountRaw > demand.spendableRaw) {
    return {
      reason: 'insufficient_balance',
      availableRaw: demand.spendableRaw,
      requiredRaw: demand.amountRaw,
    };
  }
  return undefined;
}
