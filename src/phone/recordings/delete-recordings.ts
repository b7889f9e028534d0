import { LIMITS } from '../../kernel/limits.ts';
import type { Worker } from '../../kernel/schedule.ts';
import type { CallDeps } from '../calls/call-deps.ts';
import type { Recording } from './recording.ts';
import { claimDueRecordings, noteDeleted } from './recording-store.ts';

const EVERY_MS = 10_000;
/** A claimed recording is due again after so long, whatever became of its process. */
const CLAIM_MS = 300_000;

/** Deletes recordings at the carrier: those whose time is over, and those of a side that did not agree. Runs in every process. */
export function createRecordingDeleter(deps: Pick<CallDeps, 'carrier' | 'log' | 'sql'>): Worker {
  const { carrier, log, sql } = deps;

  async function remove({ callId, carrierRecordingId }: Recording): Promise<void> {
    if (carrierRecordingId !== null) await carrier.calls.deleteRecording(carrierRecordingId);
    await noteDeleted(sql, callId);
  }

  return {
    name: 'delete-recordings',
    everyMs: EVERY_MS,
    async tick() {
      const { duePerPass } = LIMITS.phone;
      const due = await claimDueRecordings(sql, carrier.name, duePerPass, CLAIM_MS);
      await Promise.all(
        due.map((recording) =>
          remove(recording).catch((err: unknown) =>
            log.warn(
              { err, callId: recording.callId },
              'a recording was not deleted; it is tried again',
            ),
          ),
        ),
      );
    },
  };
}
