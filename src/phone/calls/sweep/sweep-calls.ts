import { minRaw } from '../../../kernel/amount.ts';
import type { Worker } from '../../../kernel/schedule.ts';
import { insertEvents } from '../../../ledger/store/agent-funds.ts';
import { clampSeconds } from '../../../models/purchase/clamp-usage.ts';
import { PHONE_LIMITS } from '../../limits.ts';
import { type LegCosts, legCosts, sumOf } from '../../rate-card.ts';
import { spanOf } from '../../recordings/recording.ts';
import { findRecording } from '../../recordings/recording-store.ts';
import { findWallet } from '../account-store.ts';
import { type Call, lineOf } from '../call.ts';
import type { CallDeps } from '../call-deps.ts';
import { callEnded } from '../call-events.ts';
import { isLeftToCarrier, secondsRecorded, useOfJournal } from '../call-meter.ts';
import { chargesOf, legsWithin } from '../call-money.ts';
import { advanceRow, applyToCall, putOffCall } from '../call-store.ts';
import { isOfSession, reasonOf } from '../end-reason.ts';
import { findSessionEnd, giveEndReason } from '../ending/end-store.ts';
import { carrierEnded, isOver } from '../hear-carrier.ts';
import {
  chargedLegs,
  claimDueCalls,
  isHeldByLiving,
  noteLineOver,
  receiptSeconds,
} from './sweep-store.ts';

const BACKSTOP = 'backstop_settled';
const EVERY_MS = 2_000;
/** Milliseconds until a claimed call is due again, also when its sweeper failed. */
const CLAIM_MS = 30_000;
/** Milliseconds after the end of a call in which a living process may settle it; later the sweeper does. */
const PATIENCE_MS = 60_000;
/** Milliseconds after its due time in which a process with a call's carrier, if one runs, has claimed it (every `EVERY_MS`). */
const ORPHANED_MS = 60_000;

/**
 * Creates the worker that ends five kinds of calls: the callee did not answer, the carrier opened no media stream, the process
 * of the media stream died, the carrier failed a hang-up, or the call was transferred. It asks the carrier whether the call is
 * over and how long it lasted. When the carrier does not know the call, or is not the carrier of this process, a call of a
 * living process is left alone until its longest duration is over.
 */
export function createCallSweeper(deps: CallDeps): Worker {
  return {
    name: 'sweep-calls',
    everyMs: EVERY_MS,
    async tick() {
      const due = await claimDueCalls(deps.sql, deps.carrier.name, {
        limit: PHONE_LIMITS.worker.duePerPass,
        claimMs: CLAIM_MS,
        othersAfterMs: ORPHANED_MS,
      });
      await Promise.all(
        due.map((call) =>
          sweepCall(deps, call).catch(async (err: unknown) => {
            deps.log.warn({ err, callId: call.callId }, 'a call was not swept; it is tried again');
            if (isHungUp(call) && !isTooOld(deps, call)) {
              await putOffCall(deps.sql, call.callId, PHONE_LIMITS.call.hangUpAgainMs.next);
            }
          }),
        ),
      );
    },
  };
}

async function sweepCall(deps: CallDeps, call: Call): Promise<void> {
  const { carrier, live, sql } = deps;
  const { callId, carrierCallId, startedAt } = call;
  if (live.has(callId)) {
    await putOffCall(sql, callId, CLAIM_MS);
    return;
  }
  const isOurs = call.carrier === carrier.name;
  if (!isOurs && isTransferred(call) && !isTooOld(deps, call)) {
    await putOffCall(sql, callId, CLAIM_MS);
    return;
  }
  const isKnown = carrierCallId !== null && isOurs;
  const record = isKnown ? await carrier.calls.find(carrierCallId) : undefined;
  // Either the carrier has no such call (any more), or the call is at another carrier, which this process cannot ask.
  if (record === undefined) {
    if (startedAt === null) await carrierEnded(deps, call, 'failed');
    else await backstop(deps, call, null);
    return;
  }
  if (!isOver(record.status)) {
    const isUnwanted = isHungUp(call) || isTooOld(deps, call);
    if (isUnwanted && carrierCallId !== null) await carrier.calls.hangUp(carrierCallId);
    await putOffCall(sql, callId, CLAIM_MS);
    return;
  }
  if (startedAt === null) await carrierEnded(deps, call, record.status);
  else await backstop(deps, call, await wordOf(deps, call, record.durationSeconds));
}

/** Duration of a line in seconds: as the carrier reports it, and as it is billed. */
type LineWord = { readonly toldSeconds: number; readonly billedSeconds: number };

/** Stores the end of the line, and returns its duration. Null when the carrier reports no duration. */
async function wordOf(
  { sql }: CallDeps,
  { callId }: Call,
  durationSeconds: number | null,
): Promise<LineWord | null> {
  const passedSeconds = await noteLineOver(sql, callId);
  if (durationSeconds === null) return null;
  return {
    toldSeconds: Math.min(durationSeconds, PHONE_LIMITS.call.longestToldSeconds),
    billedSeconds: clampSeconds(durationSeconds, passedSeconds),
  };
}

/** Returns true when the other person has answered the transfer: the line goes on at the carrier. */
const isTransferred = ({ endReason, startedAt }: Call): boolean =>
  endReason === 'call_transfer' && startedAt !== null;

/** Returns true when a hang-up was requested, or the carrier has reported the end. */
const isHungUp = (call: Call): boolean =>
  call.status === 'ending' && (!isTransferred(call) || call.options.isDropped === true);

/**
 * Returns true when a call exceeds its longest time: `longestCallSeconds` after the answer, or `ringSeconds` without an answer,
 * and `sweepGraceMs` more.
 */
function isTooOld({ clock }: CallDeps, { createdAt, startedAt }: Call): boolean {
  const { longestSeconds: longestCallSeconds, ringSeconds, sweepGraceMs } = PHONE_LIMITS.call;
  const [since, seconds] =
    startedAt === null ? [createdAt, ringSeconds] : [startedAt, longestCallSeconds];
  return clock.now() > since.getTime() + seconds * 1_000 + sweepGraceMs;
}

/**
 * Settles a call by the carrier's duration, within the time that the clock confirms, or by the journal when the carrier has no
 * duration. A longer duration of the carrier is recorded as a shortfall. Speech and recognition are charged from the journal
 * for a transferred call, and not at all for a call whose process was lost.
 */
async function backstop(deps: CallDeps, call: Call, word: LineWord | null): Promise<void> {
  const { clock, ledger, sql, takeSession } = deps;
  const { callId } = call;
  // A call whose length is unknown may last as long as the longest call.
  const longestSeconds = word?.billedSeconds ?? PHONE_LIMITS.call.longestSeconds;
  const agoMs = clock.now() - (call.startedAt?.getTime() ?? 0) - longestSeconds * 1_000;
  if (agoMs < PATIENCE_MS && (await isHeldByLiving(sql, callId))) {
    await putOffCall(sql, callId, PHONE_LIMITS.call.sweepGraceMs / 6);
    return;
  }
  const taken = await takeSession(callId);
  if (taken === undefined) {
    await writeSettled(deps, call, word && Math.ceil(word.billedSeconds));
    return;
  }
  const known = useOfJournal(taken.usage);
  const isLeft = isLeftToCarrier(taken.usage);
  const wordSeconds = word?.billedSeconds ?? known.lineSeconds;
  const lineSeconds = isLeft ? Math.max(known.lineSeconds, wordSeconds) : wordSeconds;
  const recording = await findRecording(sql, callId);
  const recordedSeconds = secondsRecorded(spanOf(recording), lineSeconds);
  const said = isLeft ? known : { sttSeconds: 0, ttsCharacters: 0 };
  const use = { ...said, lineSeconds, recordedSeconds };
  const line = lineOf(call);
  const legs = legCosts(call.rates, line, use);
  const billableRaw = sumOf(legs);
  const toldSeconds = Math.max(lineSeconds, word?.toldSeconds ?? 0);
  const actualRaw = sumOf(legCosts(call.rates, line, { ...use, lineSeconds: toldSeconds }));
  const heldRaw = taken.claim.hold.amountRaw;
  const charged = legsWithin(legs, minRaw(billableRaw, heldRaw));
  const wallet = await findWallet(sql, call.agentId);
  const { epoch } = taken.claim;
  const given = isLeft
    ? await giveEndReason(sql, { callId, epoch }, 'call_transfer')
    : { reason: BACKSTOP };
  const reason = given?.reason ?? 'call_transfer';
  const status = isLeft ? 'success' : 'failed';
  const verdict = await ledger.closeSession({
    claim: taken.claim,
    reason,
    actualRaw,
    billableRaw,
    account: 'telephony',
    source: call.carrier,
    charges: () => chargesOf(call, charged, { status, ageMs: lineSeconds * 1_000 }),
    events: [
      callEnded(
        { ...call, wallet },
        {
          reason,
          durationSeconds: Math.ceil(lineSeconds),
          legs: charged,
          isBackstop: !isLeft,
          recording,
        },
      ),
    ],
  });
  if (verdict.kind === 'settled') await writeSettled(deps, call, Math.ceil(lineSeconds));
}

/**
 * Writes the row of a call that its process or a sweeper has settled, with the duration of its receipt. A call with a
 * `call.started` event also gets its `call.ended` event, even when nothing was settled.
 */
async function writeSettled(
  deps: CallDeps,
  call: Call,
  durationSeconds: number | null,
): Promise<void> {
  const { sql } = deps;
  const { callId } = call;
  const [legs, settled, billedSeconds] = await Promise.all([
    chargedLegs(sql, callId),
    findSessionEnd(sql, callId),
    receiptSeconds(sql, callId),
  ]);
  const seconds = billedSeconds ?? durationSeconds ?? 0;
  if (settled === undefined || settled.ending === BACKSTOP) {
    await writeEnd(deps, call, legs, seconds);
    return;
  }
  const { ending, given } = settled;
  const reason = given !== null && isOfSession(given) ? given : reasonOf(ending, false);
  const end = { durationSeconds: seconds, legs, isBackstop: false };
  await sql.begin(async (tx) => {
    const ended = await applyToCall(tx, callId, { type: 'session.ended', reason }, end);
    // A settlement writes the event itself. A process that missed the commit of its `call.started` has closed the session as
    // never opened, which has no event.
    if (ended === undefined || billedSeconds !== undefined) return;
    const wallet = await findWallet(tx, call.agentId);
    const receipt = { ...end, reason: ended.endReason ?? reason };
    await insertEvents(tx, [callEnded({ ...ended, wallet }, receipt)]);
  });
}

async function writeEnd(
  { sql }: CallDeps,
  { callId }: Call,
  legs: LegCosts,
  durationSeconds: number,
): Promise<void> {
  const end = { durationSeconds, legs, isBackstop: true };
  await advanceRow(sql, callId, { type: 'call.swept' }, end);
}
