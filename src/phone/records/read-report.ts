import { findWorkMoney } from '../../ledger/store/work-money.ts';
import type { Sql } from '../../platform/postgres/sql.ts';
import type { Call } from '../calls/call.ts';
import { phoneErrors } from '../errors.ts';
import { PHONE_LIMITS } from '../limits.ts';
import { sumOf } from '../rate-card.ts';
import { factsOf } from '../recordings/recording.ts';
import { findRecording } from '../recordings/recording-store.ts';
import { findToolCalls, type StoredToolCall } from '../tools/tool-store.ts';
import { toolWorkId } from '../tools/tool-work-id.ts';
import { findReportRow, findStoredTurns } from './record-store.ts';
import { summaryText } from './report-text.ts';

const NO_LEGS = { transportRaw: 0n, sttRaw: 0n, ttsRaw: 0n };

export type CallReport = Awaited<ReturnType<typeof readReport>>;

/**
 * Returns the report of a call. Throws `not_found` when no report was ordered or its retention is over, and `report_not_ready`
 * before the end.
 */
export async function readReport(sql: Sql, call: Call) {
  const { callId, options } = call;
  if (!options.wantsReport) throw phoneErrors.reportNotFound();
  if (!call.terminal) throw phoneErrors.reportNotReady();
  const { analysis, answeredBy, isBackstop, isKept, modelRaw, summary } = await findReportRow(
    sql,
    callId,
  );
  if (!isKept) throw phoneErrors.reportNotFound();
  const turns = await findStoredTurns(sql, callId);
  const tools = await findPricedTools(sql, callId);
  const recording = await findRecording(sql, callId);
  const legs = call.legs ?? NO_LEGS;
  const toolsRaw = tools.reduce((sumRaw, { costRaw }) => sumRaw + costRaw, 0n);
  const pendingRaw = tools.reduce((sumRaw, tool) => sumRaw + tool.pendingRaw, 0n);
  return {
    callId,
    direction: call.direction,
    from: call.from,
    to: call.to,
    status: call.status,
    reason: call.endReason,
    answeredBy,
    createdAt: call.createdAt.toISOString(),
    startedAt: call.startedAt?.toISOString() ?? null,
    endedAt: call.endedAt?.toISOString() ?? null,
    durationSeconds: call.durationSeconds ?? 0,
    backstop: isBackstop,
    taskId: call.taskId,
    customerId: call.customerId,
    metadata: options.metadata ?? null,
    receipt: {
      transportRaw: `${legs.transportRaw}`,
      sttRaw: `${legs.sttRaw}`,
      ttsRaw: `${legs.ttsRaw}`,
      modelRaw: `${modelRaw}`,
      toolsRaw: `${toolsRaw}`,
      totalRaw: `${sumOf(legs) + modelRaw + toolsRaw}`,
      pendingRaw: `${pendingRaw}`,
    },
    summary: summaryText(call, summary, turns),
    transcript: turns.map(({ at, content, heard, latency, role }) => ({
      role,
      text: content,
      heard: role === 'user' ? content : (heard ?? content),
      interrupted: heard !== null,
      at: new Date(at).toISOString(),
      latency,
    })),
    tools: tools.map(({ arguments: given, at, costRaw, ms, name, outcome, ...tool }) => ({
      name,
      arguments: given,
      outcome,
      costRaw: `${costRaw}`,
      pendingRaw: `${tool.pendingRaw}`,
      at: new Date(at).toISOString(),
      ms,
    })),
    quality: summary,
    analysis,
    recording:
      recording === undefined
        ? null
        : { ...factsOf(recording), durationSeconds: recording.durationSeconds },
  };
}

/** Returns the tool calls of a call with their costs by the ledger, because the chain may decide a payment after the call. */
async function findPricedTools(sql: Sql, callId: string) {
  const tools = await findToolCalls(sql, callId, PHONE_LIMITS.tools.perCall);
  const workOf = ({ toolCallId }: StoredToolCall) => toolWorkId(callId, toolCallId);
  const known = await findWorkMoney(sql, tools.map(workOf));
  return tools.map((tool) => {
    const money = known.get(workOf(tool));
    return {
      ...tool,
      costRaw: money?.chargedRaw ?? tool.costRaw,
      pendingRaw: money?.heldRaw ?? 0n,
    };
  });
}
