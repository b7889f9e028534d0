import { insertEvents } from '../../ledger/store/agent-funds.ts';
import type { Queryable, Sql } from '../../platform/postgres/sql.ts';
import { findWallet } from '../calls/account-store.ts';
import type { Call } from '../calls/call.ts';
import { reportReady } from '../calls/call-events.ts';
import { PHONE_LIMITS } from '../limits.ts';
import { forgetToolCalls } from '../tools/tool-store.ts';
import type { CallAnalysis } from './analysis/analyze-call.ts';
import { type CallSummary, type StoredTurn, summarize } from './call-summary.ts';
import type { LineFigures } from './line-figures.ts';

/** Number of processes whose line figures a call stores. */
const MOST_LINES = 20;

/** Stores the line figures of a process that leaves a call to another process. */
export async function addLine(sql: Sql, callId: string, line: LineFigures): Promise<void> {
  await sql`
    update calls set summary = jsonb_build_object('lines',
      coalesce(summary -> 'lines', '[]'::jsonb) || ${sql.json([line])}::jsonb)
    where id = ${callId} and not terminal
      and jsonb_array_length(coalesce(summary -> 'lines', '[]'::jsonb)) < ${MOST_LINES}`;
}

export async function findStoredTurns(sql: Queryable, callId: string): Promise<StoredTurn[]> {
  const rows = await sql<StoredTurn[]>`
    select role, content, heard, latency, at from call_turns
    where call_id = ${callId} order by seq limit ${PHONE_LIMITS.report.turns}`;
  return [...rows];
}

/**
 * Closes the record of a call in the sql transaction that ends the call. Summarizes the call and schedules its report and
 * analysis; without a report it deletes the transcript.
 */
export async function closeRecord(
  tx: Queryable,
  call: Call,
  line: LineFigures | undefined,
): Promise<void> {
  const { callId, options, startedAt } = call;
  const { wantsReport } = options;
  const isAnswered = startedAt !== null;
  if (isAnswered) {
    await tx`delete from call_commands where call_id = ${callId}`;
    const turns = await findStoredTurns(tx, callId);
    const summary = summarize(turns, [
      ...(await findLines(tx, callId)),
      ...(line === undefined ? [] : [line]),
    ]);
    await tx`update calls set summary = ${tx.json(summary)} where id = ${callId}`;
    if (wantsReport) {
      const wallet = await findWallet(tx, call.agentId);
      await insertEvents(tx, [reportReady({ ...call, wallet }, summary, turns)]);
      await tx`update calls
        set analysis_due_at = now() + ${PHONE_LIMITS.report.analysisDelayMs} * interval '1 millisecond'
        where id = ${callId}`;
    }
  }
  if (wantsReport) {
    const { days: reportDays } = PHONE_LIMITS.report;
    await tx`update calls set report_until = now() + ${reportDays} * interval '1 day'
      where id = ${callId}`;
  } else if (isAnswered) {
    await tx`delete from call_turns where call_id = ${callId}`;
    await forgetToolCalls(tx, callId);
  }
}

async function findLines(tx: Queryable, callId: string): Promise<readonly LineFigures[]> {
  const [row] = await tx<{ lines: LineFigures[] | null }[]>`
    select summary -> 'lines' as lines from calls where id = ${callId}`;
  return row?.lines ?? [];
}

/** The columns of a report that `Call` lacks. */
export type ReportRow = {
  readonly summary: CallSummary | null;
  readonly answeredBy: string | null;
  readonly isBackstop: boolean;
  /** Cost of the model; its holds are settled apart from the legs. */
  readonly modelRaw: bigint;
  /** Analysis of the call. Null: the call is not analyzed yet, or was not answered. */
  readonly analysis: CallAnalysis | null;
  /** True while the turns of the call are kept. */
  readonly isKept: boolean;
};

export async function findReportRow(sql: Queryable, callId: string): Promise<ReportRow> {
  const [row] = await sql<ReportRow[]>`
    select k.summary, k.analysis, k.answered_by as "answeredBy", k.is_backstop as "isBackstop",
      coalesce(k.report_until > now(), false) as "isKept",
      coalesce((select sum(c.cost_raw)::bigint from charges c
        where c.agent_id = k.agent_id and c.created_at >= k.created_at and c.session_id = k.id
          and c.target_url not like 'phone://%'), 0)::bigint as "modelRaw"
    from calls k where k.id = ${callId}`;
  return row as ReportRow;
}

/** Deletes the turns of up to `limit` calls whose reports have expired, and returns the number of calls. */
export async function forgetReports(sql: Sql, limit: number): Promise<number> {
  return sql.begin(async (tx) => {
    const due = await tx<{ id: string }[]>`
      select id from calls where report_until <= now()
      order by report_until limit ${limit} for update skip locked`;
    for (const { id } of due) {
      await tx`delete from call_turns where call_id = ${id}`;
      await forgetToolCalls(tx, id);
      await tx`update calls set report_until = null, analysis_due_at = null where id = ${id}`;
    }
    return due.length;
  });
}
