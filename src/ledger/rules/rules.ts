import type { AllowlistMode } from '../../policy/allowlist.ts';
import type { Policy } from '../../policy/policy.ts';

/** Status, keys and policies of an agent, as of one `rulesVersion` of its row. */
export type Rules = {
  readonly status: 'pending_delegation' | 'active' | 'suspended' | 'closed';
  readonly accountId: string;
  /** Address of the agent's wallet. Null until the wallet is provisioned. */
  readonly walletAddress: string | null;
  /** Unix seconds at which the agent's delegation to the operator expires. Null without a delegation. */
  readonly operatorExpirySec: number | null;
  /** Ids of the agent's keys that are not revoked. */
  readonly keyIds: ReadonlySet<number>;
  readonly allowlistMode: AllowlistMode;
  /** The agent's own policies, by id. Its counters are in the same order. */
  readonly policies: readonly Policy[];
  /** Policies of the agent's whole team, by id. Only the database has their counters. */
  readonly teamPolicies: readonly Policy[];
  /** Quality of the agent's outcomes in bps, by the window's length in seconds; null when none was reported. */
  readonly quality: ReadonlyMap<number, number | null>;
  /** Thresholds of the agent's funding. Crossing a threshold writes an event. */
  readonly thresholds: readonly Threshold[];
};

export type Threshold = {
  readonly id: number;
  readonly thresholdBps: number;
  /** The only webhook that receives the crossing. Null: every subscribed webhook. */
  readonly webhookId: number | null;
};

/** Present time and the buckets of the policies' windows that it lies in. */
export type WindowPosition = {
  readonly nowMs: number;
  readonly nowSec: number;
  /** Number of the present bucket for each of the agent's own policies, and in `teamBuckets` for each of its team's. */
  readonly buckets: readonly number[];
  readonly teamBuckets: readonly number[];
};
