import type { EventRow } from '../ledger/rules/companion.ts';
import type { InboundConnection } from './connection.ts';
import { ORCHESTRATOR_LIMITS } from './limits.ts';
import type { Report } from './read-report.ts';
import { cutText } from './report-fields.ts';

type Owner = Pick<InboundConnection, 'accountId' | 'agentWallet' | 'provider'>;

const { structuredBytes, summaryChars, textChars, transcriptChars } = ORCHESTRATOR_LIMITS.report;

/** Returns the events that a report makes true, apart from those that were sent for its call before. */
export function eventsOfReport(
  owner: Owner,
  report: Report,
  told: readonly string[],
): readonly EventRow[] {
  const { analysis, callId, recordingUrl, summary = '', transcript = '' } = report;
  const events: EventRow[] = [];
  const add = (name: string, payload: EventRow['payload']) => {
    if (!told.includes(name)) events.push(eventOf(owner, name, callId, payload));
  };
  if (summary !== '' || transcript !== '') {
    add('call.report.ready', {
      summary: cutText(summary, summaryChars),
      transcript: cutText(transcript, transcriptChars),
    });
  }
  if (recordingUrl !== undefined) add('call.recording.ready', { recordingUrl });
  if (analysis !== undefined) {
    const { sentiment, structuredData, success } = analysis;
    const isShort = JSON.stringify(structuredData).length <= structuredBytes;
    add('call.analyzed', {
      success,
      structuredData: isShort ? structuredData : {},
      sentiment: sentiment === null ? null : cutText(sentiment, textChars),
    });
  }
  return events;
}

/** A call that was refused before it began, as far as the platform has described it. */
export type RefusedCall = {
  readonly callId: string | null;
  readonly from: string;
  readonly to: string;
};

/** Returns the event of an inbound call that was refused before it began. */
export const callRefused = (
  owner: Owner,
  { callId, from, to }: RefusedCall,
  reason: string,
): EventRow =>
  eventOf(owner, 'call.rejected', callId, {
    phoneNumber: to,
    direction: 'inbound',
    from,
    to,
    reason,
  });

const eventOf = (
  { accountId, agentWallet, provider }: Owner,
  name: string,
  callId: string | null,
  payload: EventRow['payload'],
): EventRow => ({
  name,
  accountId,
  agentWallet,
  correlationId: callId,
  payload: { agentWalletAddress: agentWallet, callId, provider, ...payload },
});
