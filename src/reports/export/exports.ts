import type { Clock } from '../../kernel/clock.ts';
import type { Sql } from '../../platform/postgres/sql.ts';
import { reportErrors } from '../errors.ts';
import { REPORT_LIMITS } from '../limits.ts';
import type { RefusalReports } from '../refusals/refusal-reports.ts';
import { exportAccount } from './export-account.ts';
import { monthAsCsv } from './month-csv.ts';

export type Exports = ReturnType<typeof createExports>;

const { perAccount, perProcess } = REPORT_LIMITS.export;

/** Creates the exports of accounts. At most `perAccount` of an account and `perProcess` in all are under way. */
export function createExports(deps: {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly refusalReports: RefusalReports;
}) {
  const running = new Map<string, number>();
  let all = 0;

  const begin = (accountId: string): (() => void) => {
    const own = running.get(accountId) ?? 0;
    if (own >= perAccount) throw reportErrors.exportRunning(perAccount);
    if (all >= perProcess) throw reportErrors.exportsBusy();
    running.set(accountId, own + 1);
    all += 1;
    return () => {
      all -= 1;
      const left = (running.get(accountId) ?? 1) - 1;
      if (left > 0) running.set(accountId, left);
      else running.delete(accountId);
    };
  };

  return {
    /** Returns the lines of an export. `onOver` registers the callback for the end of the request. */
    everything(
      accountId: string,
      onOver: (callback: () => void) => void,
    ): AsyncIterable<Uint8Array> {
      onOver(begin(accountId));
      return exportAccount(deps, accountId);
    },

    /** Returns the spend of this UTC month as CSV. Throws 413 beyond `REPORT_LIMITS.csvRows` rows. */
    async month(
      accountId: string,
      onOver: (callback: () => void) => void,
    ): Promise<AsyncIterable<Uint8Array>> {
      onOver(begin(accountId));
      return monthAsCsv(deps, accountId);
    },
  };
}
