import type { ReportWindow } from '../spend-reports.ts';
import type { RefusalReport, RefusalRow } from './refusal.ts';

/** Reads of refused and failed calls. Counts reach the database within a second, and a killed process loses that second. */
export interface RefusalReports {
  /** Returns the counts of all refusals and failures, by reason and by UTC day. */
  counts(window: Omit<ReportWindow, 'sources'>): Promise<RefusalReport>;
  /** Returns rows, newest first, that come before the row `before`. */
  rows(page: {
    readonly agentIds: readonly number[];
    readonly before?: bigint | undefined;
    readonly limit: number;
  }): Promise<readonly RefusalRow[]>;
}
