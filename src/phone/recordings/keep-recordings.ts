import type { Worker } from '../../kernel/schedule.ts';
import type { CallDeps } from '../calls/call-deps.ts';
import { findCall } from '../calls/call-store.ts';
import { PHONE_LIMITS } from '../limits.ts';
import type { Recording } from './recording.ts';
import { recordingSaved } from './recording-saved.ts';
import { claimDueRecordings, noteDeleted, noteLost, putOffRecording } from './recording-store.ts';

const EVERY_MS = 10_000;
/** Milliseconds after the end of a call from which a missing recording counts as never made. */
const NONE_AFTER_MS = 3_600_000;
const DAY_MS = 86_400_000;

type KeeperDeps = Pick<
  CallDeps,
  'carrier' | 'clock' | 'log' | 'publicUrl' | 'recordingDays' | 'sql'
>;

/**
 * Looks up recordings at the carrier whose callback has not come, and deletes recordings there: after their retention time, and
 * when the caller or callee did not agree. A recording that the carrier may still have does not count as deleted. Runs in every
 * process.
 */
export function createRecordingKeeper(deps: KeeperDeps): Worker {
  const { carrier, log, sql } = deps;

  async function keep(recording: Recording): Promise<void> {
    const { callId, carrierRecordingId, durationSeconds } = recording;
    if (carrierRecordingId !== null && durationSeconds !== null) {
      await carrier.calls.deleteRecording(carrierRecordingId);
      await noteDeleted(sql, callId);
      return;
    }
    await askCarrier(deps, recording);
  }

  return {
    name: 'keep-recordings',
    everyMs: EVERY_MS,
    async tick() {
      const { duePerPass } = PHONE_LIMITS.worker;
      const { askMs: recordingAskMs } = PHONE_LIMITS.recording;
      const due = await claimDueRecordings(sql, carrier.name, duePerPass, recordingAskMs);
      await Promise.all(
        due.map((recording) =>
          keep(recording).catch((err: unknown) =>
            log.warn(
              { err, callId: recording.callId },
              'a recording was neither found nor deleted; it is tried again',
            ),
          ),
        ),
      );
    },
  };
}

/**
 * Stores the carrier's record of a recording whose callback did not come, or schedules another look-up. The wait grows with the
 * time since the end of the call.
 */
async function askCarrier(
  deps: KeeperDeps,
  { callId, carrierRecordingId, status }: Recording,
): Promise<void> {
  const { carrier, clock, log, recordingDays, sql } = deps;
  const call = await findCall(sql, callId);
  const carrierCallId = call?.carrierCallId ?? '';
  const found = await carrier.calls.findRecording({ callId, carrierCallId }, carrierRecordingId);
  if (found.kind === 'whole') {
    await recordingSaved(deps, { ...found, kind: 'recording', carrierCallId });
    return;
  }
  const overMs = clock.now() - (call?.endedAt?.getTime() ?? clock.now());
  if (found.kind === 'none' && overMs >= NONE_AFTER_MS) {
    await (status === 'stopped' ? noteDeleted(sql, callId) : noteLost(sql, callId));
    return;
  }
  if (overMs >= recordingDays * DAY_MS) {
    log.error({ callId }, 'the carrier may have a recording that was never found');
    await noteLost(sql, callId);
    return;
  }
  await putOffRecording(sql, callId, {
    recordingId: found.recordingId,
    inMs: Math.max(PHONE_LIMITS.recording.askMs, overMs / 4),
  });
}
