import type { AllowlistMode } from '../../policy/allowlist.ts';
import type { Policy } from '../../policy/policy.ts';

/** Status, keys and policies of an agent, as of one `rulesVersion` of its row. */
export type Rules = {
  readonly status: 'pending_delegation' | 'active' | 'suspended' | 'closed';
  readonly accountId: string;
  /** Null until it is provisioned. */
  readonly walletAddress: string | null;
  /** Unix seconds; null without a delegation. */
  readonly operatorExpirySec: number | null;
  /** Keys that are not revoked. */
  readonly keyIds: ReadonlySet<number>;
  readonly allowlistMode: AllowlistMode;
  /** The agent's own policies, by id. Its counters are in the same order. */
  readonly policies: readonly Policy[];
  /** Policies of the agent's whole team, by id. Only the database has their counters. */
  readonly teamPolicies: readonly Policy[];
  /** Quality of the agent's outcomes in bps, by the window's length in seconds; null when none was reported. */
  readonly quality: ReadonlyMap<number, number | null>;
  /** Shares of the agent's funding, in bps, whose crossing is written as an event. */
  readonly thresholds: readonly Threshold[];
};

export type Threshold = {
  readonly id: number;
  readonly thresholdBps: number;
  /** The only webhook that receives the crossing. Null: every subscribed webhook. */
  readonly webhookId: number | null;
};

/** The present, as the rules see it. */
export type WindowPosition = {
  readonly nowMs: number;
  readonly nowSec: number;
  /** The bucket of each of the agent's own policies that it lies in, and of each of its team's. */
  readonly buckets: readonly number[];
  readonly teamBuckets: readonly number[];
};
