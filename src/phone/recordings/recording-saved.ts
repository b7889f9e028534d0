import { insertEvents } from '../../ledger/store/agent-funds.ts';
import { findWallet } from '../calls/account-store.ts';
import type { CallDeps } from '../calls/call-deps.ts';
import { recordingReady } from '../calls/call-events.ts';
import { findCarrierCall } from '../calls/call-store.ts';
import type { CallbackEvent } from '../carriers/carrier.ts';
import { noteSaved } from './recording-store.ts';

/** Stores that the carrier has the recording of a call, and reports once that it can be fetched. */
export async function recordingSaved(
  {
    carrier,
    publicUrl = '',
    recordingDays: days,
    sql,
  }: Pick<CallDeps, 'carrier' | 'publicUrl' | 'recordingDays' | 'sql'>,
  event: Extract<CallbackEvent, { kind: 'recording' }>,
): Promise<void> {
  const call = await findCarrierCall(sql, carrier.name, event.carrierCallId);
  if (call === undefined) return;
  const { agentId, callId } = call;
  const wallet = await findWallet(sql, agentId);
  const url = `${publicUrl.replace(/\/+$/, '')}/v1/calls/${callId}/recording`;
  await sql.begin(async (tx) => {
    const ready = await noteSaved(tx, callId, { ...event, days });
    if (ready !== undefined) await insertEvents(tx, [recordingReady({ ...call, wallet }, url)]);
  });
}
