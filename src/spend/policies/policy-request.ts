import type { AllowlistMode } from '../../policy/allowlist.ts';
import type { MatchKind, Policy, SpendWindow } from '../../policy/policy.ts';

/** Kinds of policy that callers may create on the policy routes. The budget of a key has its own routes. */
export type RequestedKind = 'task' | 'api' | 'vendor' | 'session';

/** Fields of a policy that a caller may set at any time; null clears. Each field was checked by itself. */
export type PolicyBounds = {
  readonly limitFloorRaw?: bigint | null | undefined;
  readonly limitCeilingRaw?: bigint | null | undefined;
  readonly windowSeconds?: number | null | undefined;
  readonly effectiveFrom?: number | null | undefined;
  readonly effectiveUntil?: number | null | undefined;
  readonly action?: Policy['action'] | null | undefined;
  readonly label?: string | null | undefined;
  readonly qualityThrottleFloorBps?: number | null | undefined;
  readonly qualityWindowSeconds?: number | null | undefined;
};

export type PolicyRequest = PolicyBounds & {
  readonly kind: RequestedKind;
  readonly matchKey?: string | null | undefined;
  readonly matchKind?: MatchKind | null | undefined;
  readonly limitRaw: bigint;
  readonly windowKind?: SpendWindow['kind'] | null | undefined;
  readonly calendarUnit?: 'day' | 'week' | 'month' | null | undefined;
  readonly expiresAt?: number | null | undefined;
};

export type PolicyEdit = PolicyBounds & { readonly limitRaw?: bigint | undefined };

/** Policy that is not stored yet. */
export type NewPolicy = Omit<Policy, 'id' | 'agentId'>;

/** Returns a cap that only blocks: always in effect, and independent of the task's value and the quality of outcomes. */
export const plainCap = (
  of: Pick<NewPolicy, 'kind' | 'matchKey' | 'limitRaw' | 'window'> & Partial<NewPolicy>,
): NewPolicy => ({
  matchKind: null,
  limitFloorRaw: null,
  limitCeilingRaw: null,
  effectiveFromSec: null,
  effectiveUntilSec: null,
  expiresAtSec: null,
  action: 'block',
  qualityFloorBps: null,
  qualityWindowSeconds: null,
  reserves: false,
  label: null,
  ...of,
});

/** A policy with the additional fields of its row. */
export type StoredPolicy = Policy & {
  /** Unix milliseconds of the policy's start. Charges that were settled before do not count. */
  readonly startsAtMs: number;
  readonly createdAt: Date;
  readonly revokedAt: Date | null;
};

/** Controls of an agent besides its policies. */
export type AgentControls = {
  readonly mode: AllowlistMode;
  /** True while the agent's own keys may only tighten the controls. */
  readonly locked: boolean;
};

/** Returns true when a policy is neither revoked nor over: it is in effect, or will be. */
export function isLiving(policy: StoredPolicy, nowSec: number): boolean {
  return policy.revokedAt === null && !isOver(policy, nowSec);
}

export const statusOf = (policy: StoredPolicy, nowSec: number): 'active' | 'expired' | 'revoked' =>
  policy.revokedAt !== null ? 'revoked' : isOver(policy, nowSec) ? 'expired' : 'active';

const isOver = ({ effectiveUntilSec, expiresAtSec }: Policy, nowSec: number): boolean =>
  (effectiveUntilSec !== null && nowSec >= effectiveUntilSec) ||
  (expiresAtSec !== null && nowSec >= expiresAtSec);
