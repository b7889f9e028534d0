import type { Worker } from '../../kernel/schedule.ts';
import type { Sql } from '../../platform/postgres/sql.ts';
import { PHONE_LIMITS } from '../limits.ts';
import { forgetReports } from './record-store.ts';

const EVERY_MS = 60_000;

/**
 * Creates the worker that deletes the transcripts of calls `PHONE_LIMITS.report.days` after their end. It runs in every process.
 */
export function createReportForgetter({ sql }: { readonly sql: Sql }): Worker {
  return {
    name: 'forget-call-reports',
    everyMs: EVERY_MS,
    async tick() {
      const { duePerPass, passesPerTick } = PHONE_LIMITS.worker;
      for (let pass = 0; pass < passesPerTick; pass++) {
        if ((await forgetReports(sql, duePerPass)) < duePerPass) return;
      }
    },
  };
}
