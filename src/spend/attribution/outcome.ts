/** Outcome of an action, as its agent or its developer reports it. */
export type OutcomeReport = {
  readonly status: 'success' | 'failure' | 'partial' | 'unknown';
  readonly scoreBps: number | null;
  readonly note: string | null;
};

/** Last report about an action, and the number of its reports. */
export type ActionOutcome = OutcomeReport & {
  readonly reportCount: number;
  readonly reportedAt: Date;
};

/** Returns an outcome in the form of all routes. */
export const outcomeRecord = (outcome: ActionOutcome) => ({
  status: outcome.status,
  scoreBps: outcome.scoreBps,
  note: outcome.note,
  reportCount: outcome.reportCount,
  reportedAt: outcome.reportedAt.toISOString(),
});
