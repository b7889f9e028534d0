import type { EventRow } from '../../ledger/rules/companion.ts';
import type { AnsweredBy } from '../carriers/carrier.ts';
import type { LegCosts } from '../rate-card.ts';
import { factsOf, type Recording } from '../recordings/recording.ts';
import type { CallAnalysis } from '../records/analysis/analyze-call.ts';
import type { CallSummary, StoredTurn } from '../records/call-summary.ts';
import { summaryText, transcriptText } from '../records/report-text.ts';
import { type Call, type CallOptions, ownNumber } from './call.ts';

/** The members of a call that its events contain. */
export type EventCall = Pick<
  Call,
  'callId' | 'accountId' | 'direction' | 'from' | 'to' | 'taskId' | 'customerId'
> & {
  readonly wallet: string | null;
  readonly answeredBy?: AnsweredBy | null | undefined;
  readonly options?: Pick<CallOptions, 'metadata'>;
  readonly handoffData?: string | null | undefined;
};

const metadataOf = ({ options }: Pick<EventCall, 'options'>) =>
  options?.metadata && { metadata: options.metadata };

const common = (
  call: Pick<EventCall, 'wallet' | 'callId' | 'direction' | 'from' | 'to' | 'options'>,
) => ({
  agentWalletAddress: call.wallet,
  callId: call.callId,
  phoneNumber: ownNumber(call),
  direction: call.direction,
  from: call.from,
  to: call.to,
  ...metadataOf(call),
});

const event = (
  name: string,
  call: EventCall,
  payload: Readonly<Record<string, unknown>>,
): EventRow => ({
  name,
  accountId: call.accountId,
  agentWallet: call.wallet,
  correlationId: call.callId,
  payload,
});

/** Returns the event of a call that was answered. */
export const callStarted = (call: EventCall): EventRow => event('call.started', call, common(call));

export type CallReceipt = {
  readonly reason: string;
  readonly durationSeconds: number;
  readonly legs: LegCosts;
  /** True when the carrier's report settled the call, because the process of its media stream was lost. */
  readonly isBackstop: boolean;
  /** Recording of the call. Undefined: the call was not recorded. */
  readonly recording?: Pick<Recording, 'announcedAt' | 'status'> | undefined;
};

/** Returns the event of a call that is over and settled, with the amount that the ledger took for each leg. */
export const callEnded = (call: EventCall, receipt: CallReceipt): EventRow =>
  event('call.ended', call, {
    ...common(call),
    reason: receipt.reason,
    durationSeconds: receipt.durationSeconds,
    transportRaw: receipt.legs.transportRaw.toString(),
    sttRaw: receipt.legs.sttRaw.toString(),
    ttsRaw: receipt.legs.ttsRaw.toString(),
    taskId: call.taskId,
    customerId: call.customerId,
    ...(call.answeredBy && { answeredBy: call.answeredBy }),
    ...(call.handoffData && { handoffData: call.handoffData }),
    ...(receipt.isBackstop && { backstop: true }),
    ...(receipt.recording !== undefined && { recording: factsOf(receipt.recording) }),
  });

/** Returns the event of a recording that is ready to fetch. */
export const recordingReady = (
  call: EventCall & Pick<Call, 'carrier'>,
  recordingUrl: string,
): EventRow =>
  event('call.recording.ready', call, {
    agentWalletAddress: call.wallet,
    callId: call.callId,
    provider: call.carrier,
    ...metadataOf(call),
    recordingUrl,
  });

/** Returns the event of a call report that is ready to read. */
export const reportReady = (
  call: EventCall & Pick<Call, 'carrier' | 'durationSeconds' | 'endReason'>,
  summary: CallSummary,
  turns: readonly StoredTurn[],
): EventRow =>
  event('call.report.ready', call, {
    agentWalletAddress: call.wallet,
    callId: call.callId,
    provider: call.carrier,
    ...metadataOf(call),
    summary: summaryText(call, summary, turns),
    transcript: transcriptText(turns),
  });

/** Returns the event of a call's analysis, which is made after its end. */
export const callAnalyzed = (
  call: EventCall & Pick<Call, 'carrier'>,
  { sentiment, structuredData, success }: CallAnalysis,
): EventRow =>
  event('call.analyzed', call, {
    agentWalletAddress: call.wallet,
    callId: call.callId,
    provider: call.carrier,
    ...metadataOf(call),
    success,
    structuredData,
    sentiment,
  });

/** Returns the event of a call that was not put through, or ended without an answer, and cost nothing. */
export const callRejected = (
  call: Omit<EventCall, 'callId'> & { readonly callId: string | null },
  reason: string,
): EventRow => ({
  name: 'call.rejected',
  accountId: call.accountId,
  agentWallet: call.wallet,
  correlationId: call.callId,
  payload: { ...common({ ...call, callId: call.callId ?? '' }), callId: call.callId, reason },
});
