/** Kinds of activity that clients ask for. A kind without a source on this server has no events. */
export const ACTIVITY_TYPES = [
  'x402_call',
  'onramp_purchase',
  'onramp_sweep',
  'transfer_deposit',
  'transfer_withdrawal',
  'transfer_external',
  'facility_loan_match',
  'facility_loan_repay',
  'facility_loan_rollover',
  'facility_loan_failed',
] as const;

export type ActivityType = (typeof ACTIVITY_TYPES)[number];

/**
 * Tables that events come from. `reservation`: payments without a charge; `platform`: calls of voice platforms; `credit`: money
 * in; `payout`: money out.
 */
export type ActivitySource = 'charge' | 'reservation' | 'platform' | 'credit' | 'payout';

/** One event of an account. */
export type ActivityEvent = {
  readonly source: ActivitySource;
  readonly rowId: string;
  readonly type: ActivityType;
  readonly agentId: number;
  readonly atMicros: bigint;
  readonly status: 'success' | 'pending' | 'failed';
  readonly summary: string;
  readonly amountRaw: bigint | null;
  readonly txHash: string | null;
  readonly details: Readonly<Record<string, unknown>>;
};

/** Rank of each source: its place among rows of the same microsecond. */
export const RANK: Readonly<Record<ActivitySource, number>> = {
  charge: 4,
  reservation: 3,
  platform: 2,
  credit: 1,
  payout: 0,
};

/** Returns true for the rank of a source whose ids are numbers. */
export const hasNumber = (rank: number): boolean =>
  rank === RANK.charge || rank === RANK.reservation;

/** Compares two events by their place in the list: the newer event first. */
export function byPlace(a: ActivityEvent, b: ActivityEvent): number {
  if (a.atMicros !== b.atMicros) return a.atMicros > b.atMicros ? -1 : 1;
  if (a.source !== b.source) return RANK[b.source] - RANK[a.source];
  const isLater = hasNumber(RANK[a.source]) ? BigInt(a.rowId) > BigInt(b.rowId) : a.rowId > b.rowId;
  return isLater ? -1 : 1;
}
