/** Reasons by which refusals and failed calls are counted. No other reason exists. */
export const REFUSAL_REASONS = [
  'insufficient_balance',
  'reserve_exceeded',
  'session_limit',
  'key_budget',
  'policy',
  'host_not_allowlisted',
  'vendor_not_allowlisted',
  'destination_blocked',
  'agent_suspended',
  'agent_closed',
  'agent_not_active',
  'delegation_expired',
  'rate_limited',
  'telephony',
  'payments_paused',
  'platform_call',
  'provider_failed',
  'provider_unavailable',
  'vendor_failed',
  'payment_undecided',
  'carrier_failed',
] as const;

export type RefusalReason = (typeof REFUSAL_REASONS)[number];

/** Reasons for which a call failed at its upstream and has no charge. */
const UNCHARGED = ['provider_unavailable', 'vendor_failed', 'carrier_failed'] as const;

export const UNCHARGED_FAILURES: ReadonlySet<RefusalReason> = new Set(UNCHARGED);

/**
 * Reasons for which a call failed at its upstream. Every other reason is a refusal of this server. A failed attempt at a model has
 * a failed charge besides, and an undecided payment is pending.
 */
export const FAILURE_REASONS: ReadonlySet<RefusalReason> = new Set<RefusalReason>([
  ...UNCHARGED,
  'provider_failed',
  'payment_undecided',
]);

/** One refused or failed call. */
export type Refusal = {
  readonly agentId: number;
  readonly reason: RefusalReason;
  /** Id of the request, as its answer names it. */
  readonly requestId: string;
  /** The policy that refused; null for every other reason. */
  readonly policyId: number | null;
  /** Host that the refusal names; null for every other refusal. */
  readonly host: string | null;
  readonly requiredRaw: bigint | null;
  readonly availableRaw: bigint | null;
};

/** A refusal that is kept as a row: the first `REPORT_LIMITS.refusals.rowsPerDay` of each agent and UTC day. */
export type RefusalRow = Refusal & {
  /** Position in the list of all rows, which rises with time. */
  readonly id: bigint;
  readonly at: Date;
};

export type RefusalCount = { readonly reason: RefusalReason; readonly count: number };

export type RefusalReport = {
  readonly total: number;
  /** In descending order of the count. */
  readonly byReason: readonly RefusalCount[];
  readonly byDay: readonly { readonly day: string; readonly count: number }[];
};
