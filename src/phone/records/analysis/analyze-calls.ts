import type { Log } from '../../../kernel/log.ts';
import type { Worker } from '../../../kernel/schedule.ts';
import type { Sql } from '../../../platform/postgres/sql.ts';
import { findCall } from '../../calls/call-store.ts';
import { PHONE_LIMITS } from '../../limits.ts';
import { findStoredTurns } from '../record-store.ts';
import { type ClaimedCall, claimUnanalyzed, closeAnalysis } from './analysis-store.ts';
import { analyzeCall } from './analyze-call.ts';
import type { JudgeCall } from './judge-by-model.ts';

const EVERY_MS = 2_000;
/** Milliseconds until a claimed call that was not analyzed is due again: twice the longest time of a model. */
const CLAIM_MS = 2 * PHONE_LIMITS.verdict.answerMs;

export type AnalyzerDeps = {
  readonly sql: Sql;
  readonly log: Log;
  /** Analyzes a call by its model, when the call requests that. */
  readonly judge: JudgeCall;
};

/**
 * Analyzes each answered call with a report, once, shortly after its end, when its last turns are stored. A model gets one
 * request at most, so that it is not paid twice; without its verdict the rules decide. Any number of processes share the work:
 * when a process dies, the others analyze its calls.
 */
export function createCallAnalyzer(deps: AnalyzerDeps): Worker {
  const { log, sql } = deps;
  return {
    name: 'analyze-calls',
    everyMs: EVERY_MS,
    async tick() {
      const { duePerPass, passesPerTick } = PHONE_LIMITS.worker;
      for (let pass = 0; pass < passesPerTick; pass++) {
        const due = await claimUnanalyzed(sql, { limit: duePerPass, claimMs: CLAIM_MS });
        await Promise.all(
          due.map((claimed) =>
            analyze(deps, claimed).catch((err: unknown) =>
              log.warn(
                { err, callId: claimed.callId },
                'a call was not analyzed; it is tried again',
              ),
            ),
          ),
        );
        if (due.length < duePerPass) return;
      }
    },
  };
}

async function analyze(
  { judge, log, sql }: AnalyzerDeps,
  { callId, isFirst }: ClaimedCall,
): Promise<void> {
  const call = await findCall(sql, callId);
  if (call === undefined) return;
  const turns = await findStoredTurns(sql, callId);
  const byRules = analyzeCall(call, turns);
  const asksModel = call.options.analysis !== undefined && isFirst;
  const byModel = asksModel
    ? await judge(call, turns).catch((err: unknown) => {
        log.warn({ err, callId }, 'the model of a call did not judge it');
        return undefined;
      })
    : undefined;
  const analysis =
    byModel === undefined
      ? byRules
      : { ...byModel, structuredData: { ...byRules.structuredData, ...byModel.structuredData } };
  await closeAnalysis(sql, call, analysis);
}
