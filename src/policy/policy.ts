/** Kinds of spending that a cap may match. Policies of the kinds `session` and `key` have routes of their own. */
export type PolicyKind = 'task' | 'api' | 'vendor' | 'session' | 'key';

export type MatchKind = 'host_exact' | 'host_suffix' | 'recipient';

/** The period over which spending is summed. */
export type SpendWindow =
  /** Slides with time: spending older than `seconds` no longer counts. */
  | { readonly kind: 'rolling'; readonly seconds: number }
  /** Present calendar day, week (from Monday) or month, in UTC. */
  | { readonly kind: 'calendar'; readonly unit: 'day' | 'week' | 'month' }
  /** Time from the policy's start to its expiry. */
  | { readonly kind: 'once' }
  /** Time from the policy's start until its owner restarts it. */
  | { readonly kind: 'session' };

/** Cap on spending. The spent amount under a policy is the settled plus the held amount. */
export type Policy = {
  readonly id: number;
  /** Null when the policy caps all agents of the account together. */
  readonly agentId: number | null;
  readonly kind: PolicyKind;
  /** Task id, host, wallet or key id that a spending must match, in lower case. Null for a session. */
  readonly matchKey: string | null;
  readonly matchKind: MatchKind | null;
  readonly limitRaw: bigint;
  /** Lower and upper bound between which the value of the task moves the cap. A bound that is null equals the limit. */
  readonly limitFloorRaw: bigint | null;
  readonly limitCeilingRaw: bigint | null;
  readonly window: SpendWindow;
  /** Unix seconds. Outside its period the policy counts spending but refuses nothing. */
  readonly effectiveFromSec: number | null;
  readonly effectiveUntilSec: number | null;
  readonly expiresAtSec: number | null;
  readonly action: 'block' | 'suspend_agent';
  /** Smallest share of the cap, in bps, to which poor outcomes can lower it. Null: poor outcomes never lower it. */
  readonly qualityFloorBps: number | null;
  readonly qualityWindowSeconds: number | null;
  /** True when the unspent part of the cap is kept free for its task. */
  readonly reserves: boolean;
  readonly label: string | null;
  /** Unix milliseconds from which spending counts under the policy. Absent: from the beginning of its window. */
  readonly startsAtMs?: number | undefined;
};

/** Facts of a spending that decide under which policies it counts. They are fixed when the money is held. */
export type SpendFacts = {
  /** The first key in the line of rotations of the caller's key. */
  readonly keyRootId: number | null;
  readonly taskId: string | null;
  /** Recipient of the money: a vendor's host, or the maker of a model. */
  readonly host: string | null;
  /** Wallet of the vendor, in lower case. Null when no wallet is paid directly. */
  readonly payee: string | null;
};

/** Returns true when a policy may refuse spending at this time. Spending counts under it at any time. */
export function isEffective(policy: Policy, nowSec: number): boolean {
  const { effectiveFromSec, effectiveUntilSec, expiresAtSec } = policy;
  if (effectiveFromSec !== null && nowSec < effectiveFromSec) return false;
  if (effectiveUntilSec !== null && nowSec >= effectiveUntilSec) return false;
  return expiresAtSec === null || nowSec < expiresAtSec;
}
