import { LIMITS } from '../../../kernel/limits.ts';
import type { Log } from '../../../kernel/log.ts';
import type { Worker } from '../../../kernel/schedule.ts';
import type { Sql } from '../../../platform/postgres/sql.ts';
import { findCall } from '../../calls/call-store.ts';
import { findStoredTurns } from '../record-store.ts';
import { claimUnanalyzed, closeAnalysis } from './analysis-store.ts';
import { analyzeCall } from './analyze-call.ts';

const EVERY_MS = 2_000;
/** A claimed call is due again after so long, if the process that claimed it has not analyzed it. */
const CLAIM_MS = 60_000;

/**
 * Analyzes each answered call with a report, once, shortly after its end: the last words of a call may be written behind it.
 * Any number of processes share the work, and one that dies leaves it to the others.
 */
export function createCallAnalyzer({ log, sql }: { readonly sql: Sql; readonly log: Log }): Worker {
  const analyze = async (callId: string) => {
    const call = await findCall(sql, callId);
    if (call === undefined) return;
    await closeAnalysis(sql, call, analyzeCall(call, await findStoredTurns(sql, callId)));
  };
  return {
    name: 'analyze-calls',
    everyMs: EVERY_MS,
    async tick() {
      const { duePerPass, passesPerTick } = LIMITS.phone;
      for (let pass = 0; pass < passesPerTick; pass++) {
        const due = await claimUnanalyzed(sql, { limit: duePerPass, claimMs: CLAIM_MS });
        for (const callId of due) {
          await analyze(callId).catch((err: unknown) =>
            log.warn({ err, callId }, 'a call was not analyzed; it is tried again'),
          );
        }
        if (due.length < duePerPass) return;
      }
    },
  };
}
