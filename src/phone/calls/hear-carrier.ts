import type { CallbackEvent, CarrierStatus, Instruction } from '../carriers/carrier.ts';
import { PHONE_LIMITS } from '../limits.ts';
import { recordingSaved } from '../recordings/recording-saved.ts';
import { reachesLimit } from '../suspensions/carrier-limit.ts';
import { stopTelephony } from '../suspensions/suspension-store.ts';
import { addNote, noteAnsweredBy } from './actions/action-store.ts';
import { transferNote } from './actions/transfer-note.ts';
import type { Call } from './call.ts';
import type { CallDeps } from './call-deps.ts';
import {
  advanceRow,
  askForStream,
  findCall,
  findCarrierCall,
  learnCarrierCall,
  noteCarrierPrice,
  noteCarrierStatus,
  putOffCall,
} from './call-store.ts';
import { NOT_OPENED } from './end-reason.ts';
import { dropTransferred } from './ending/end-store.ts';
import { noteEndedEarly, takeEndedEarly } from './ending/ended-early-store.ts';
import { hangUpQuietly } from './hang-up-quietly.ts';
import { type Received, receiveCall } from './receive-call.ts';

/** Time for the process with a call's media to settle the call. After it the sweeper settles by the carrier's duration. */
const BACKSTOP_AFTER_MS = 5_000;

const OVER = ['completed', 'busy', 'no-answer', 'canceled', 'failed', 'invalid'] as const;

type EndedStatus = (typeof OVER)[number];

export const isOver = (status: CarrierStatus): status is EndedStatus =>
  OVER.some((over) => over === status);

/** Returns the instruction to the carrier for a call that is connected. */
export async function directCall(
  deps: CallDeps,
  event: Extract<CallbackEvent, { kind: 'answered' }>,
): Promise<Instruction> {
  const { sql } = deps;
  const received: Received =
    event.callId === undefined
      ? await receiveCall(deps, event)
      : { kind: 'admitted', callId: event.callId };
  if (received.kind === 'reject') return received;
  const { callId } = received;
  const call = await findCall(sql, callId);
  if (call === undefined || call.terminal || call.status === 'ending') return { kind: 'hang_up' };
  const ended =
    event.callId === undefined
      ? await takeEndedEarly<EndedStatus>(sql, { ...event, carrier: deps.carrier.name })
      : undefined;
  if (ended !== undefined) {
    await carrierEnded(deps, call, ended);
    return { kind: 'hang_up' };
  }
  await learnCarrierCall(sql, callId, event.carrierCallId);
  if (event.transferFailed !== undefined) {
    await addNote(sql, callId, transferNote(event.transferFailed));
  }
  const isAsked = await askForStream(sql, callId);
  return isAsked ? { kind: 'stream', callId } : { kind: 'hang_up' };
}

/** Handles a carrier's callback about a call. Callbacks may come late, twice and out of order. */
export async function hearCarrier(deps: CallDeps, event: CallbackEvent): Promise<void> {
  const { carrier, sql } = deps;
  switch (event.kind) {
    case 'status': {
      const call = (await callOf(deps, event)) ?? (await callOfEarly(deps, event));
      if (call === undefined) return;
      await learnCarrierCall(sql, call.callId, event.carrierCallId);
      await noteCarrierStatus(sql, call.callId, { ...event, isLast: isOver(event.status) });
      // The call was hung up or given up before any callback of the carrier.
      const isUnwanted = call.carrierCallId === null && (call.terminal || call.status === 'ending');
      if (isUnwanted && !isOver(event.status))
        void hangUpQuietly(deps, { callId: call.callId, carrierCallId: event.carrierCallId });
      if (event.priceRaw !== null) await noteCarrierPrice(sql, call.callId, event.priceRaw);
      if (isOver(event.status)) await carrierEnded(deps, call, event.status);
      return;
    }
    case 'machine': {
      const call = await findCarrierCall(sql, carrier.name, event.carrierCallId);
      if (call === undefined) return;
      await noteAnsweredBy(sql, call.callId, event.answeredBy);
      // If another process has the call's media, that process reads the answer from the row.
      deps.live.get(call.callId)?.actions.answeredBy(event.answeredBy);
      return;
    }
    case 'transferred':
      await transferred(deps, event.callId);
      return;
    case 'recording':
      await recordingSaved(deps, event);
      return;
    case 'usage':
      await spent(deps, event);
      return;
    default:
  }
}

async function spent(
  { carrier, carrierLimitUsd: limitUsd, clock, log, sql }: CallDeps,
  report: Extract<CallbackEvent, { kind: 'usage' }>,
): Promise<void> {
  const noted = { carrier: carrier.name, limitUsd, spentRaw: String(report.spentRaw) };
  if (!reachesLimit(report, { limitUsd, nowMs: clock.now() })) {
    log.warn(noted, 'the carrier reports a spend that does not reach the limit of this month');
    return;
  }
  await stopTelephony(sql, 'carrier_usage');
  log.error(noted, 'the carrier has reached its limit of the month');
}

/** Ends the conversation of a call whose transfer was answered: its line goes on at the carrier. */
async function transferred({ live, sql }: CallDeps, callId: string): Promise<void> {
  const living = live.get(callId);
  if (living !== undefined) {
    living.actions.transferred();
    return;
  }
  // The process of the media stream reads the row while it waits for the call to come back.
  const ended = await advanceRow(sql, callId, { type: 'transfer.answered' });
  if (ended !== undefined) await putOffCall(sql, callId, BACKSTOP_AFTER_MS);
}

const callOf = (
  { carrier, sql }: CallDeps,
  { callId, carrierCallId }: Extract<CallbackEvent, { kind: 'status' }>,
): Promise<Call | undefined> =>
  callId === undefined ? findCarrierCall(sql, carrier.name, carrierCallId) : findCall(sql, callId);

/**
 * Returns the call of a callback that came before the call's row was written. When the row is still missing, stores the end of
 * the call for later.
 */
async function callOfEarly(
  deps: CallDeps,
  event: Extract<CallbackEvent, { kind: 'status' }>,
): Promise<Call | undefined> {
  if (event.callId !== undefined || !isOver(event.status)) return undefined;
  await noteEndedEarly(deps.sql, { ...event, carrier: deps.carrier.name });
  return callOf(deps, event);
}

/** Handles the carrier's end of a call: ends a call that was never answered; an answered call is settled by its own process. */
export async function carrierEnded(deps: CallDeps, call: Call, status: EndedStatus): Promise<void> {
  const { live, sql } = deps;
  const { callId } = call;
  if (call.terminal) return;
  const living = live.get(callId);
  if (living !== undefined) {
    living.hungUp();
    return;
  }
  deps.room?.forget(callId);
  const moved = await advanceRow(sql, callId, { type: 'carrier.ended', status });
  // The call may have been answered since it was read.
  const now = moved ?? (await findCall(sql, callId)) ?? call;
  if (now.startedAt === null) await releaseReserve(deps, call);
  else await putOffCall(sql, callId, BACKSTOP_AFTER_MS);
}

/** Releases the hold of a call that ended before it was billed. */
async function releaseReserve({ ledger, takeSession }: CallDeps, call: Call): Promise<void> {
  const taken = await takeSession(call.callId);
  if (taken === undefined) return;
  await ledger.closeSession({
    claim: taken.claim,
    reason: NOT_OPENED,
    actualRaw: 0n,
    account: 'telephony',
    source: call.carrier,
  });
}

/** Ends a call for its agent or developer. When the carrier fails to hang up, the sweeper tries again. */
export async function dropCall(deps: CallDeps, call: Call): Promise<void> {
  const living = deps.live.get(call.callId);
  if (living !== undefined) {
    living.end('agent_ended');
    return;
  }
  await putOffCall(deps.sql, call.callId, PHONE_LIMITS.call.sweepGraceMs);
  await dropTransferred(deps.sql, call.callId);
  await hangUpQuietly(deps, call);
}
