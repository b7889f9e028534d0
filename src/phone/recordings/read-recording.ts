import type { Call } from '../calls/call.ts';
import type { CallDeps } from '../calls/call-deps.ts';
import { CarrierFailed } from '../carriers/carrier.ts';
import { phoneErrors } from '../errors.ts';
import { findRecording } from './recording-store.ts';

/**
 * Returns the recording of a call as WAV, with a channel for each side. Throws `not_found` when nothing was recorded or the
 * recording is deleted, and `recording_not_ready` until the carrier has all of it.
 */
export async function readRecording(
  { carrier, sql }: Pick<CallDeps, 'carrier' | 'sql'>,
  { callId }: Call,
): Promise<AsyncIterable<Uint8Array>> {
  const recording = await findRecording(sql, callId);
  if (recording?.carrier !== carrier.name) throw phoneErrors.recordingNotFound();
  if (recording.status === 'recording') throw phoneErrors.recordingNotReady();
  const { carrierRecordingId: id } = recording;
  if (recording.status !== 'ready' || id === null) throw phoneErrors.recordingNotFound();
  const sound = await carrier.calls.fetchRecording(id).catch((error: unknown) => {
    throw error instanceof CarrierFailed ? phoneErrors.carrierAway() : error;
  });
  if (sound === undefined) throw phoneErrors.recordingNotFound();
  return sound;
}
