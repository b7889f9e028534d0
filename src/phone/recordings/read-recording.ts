import { errors } from '../../kernel/errors.ts';
import type { Call } from '../calls/call.ts';
import type { CallDeps } from '../calls/call-deps.ts';
import { CarrierFailed } from '../carriers/carrier.ts';
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
  if (recording?.carrier !== carrier.name) throw errors.phone.recordingNotFound();
  if (recording.status === 'recording') throw errors.phone.recordingNotReady();
  const { carrierRecordingId: id } = recording;
  if (recording.status !== 'ready' || id === null) throw errors.phone.recordingNotFound();
  const sound = await carrier.calls.fetchRecording(id).catch((error: unknown) => {
    throw error instanceof CarrierFailed ? errors.phone.carrierAway() : error;
  });
  if (sound === undefined) throw errors.phone.recordingNotFound();
  return sound;
}
