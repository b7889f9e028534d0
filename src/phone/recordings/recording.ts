import type { RecordedSpan } from '../calls/call-meter.ts';
import type { CarrierName } from '../carriers/carrier.ts';

/** `stopped`: the caller or callee did not agree, and the recorded part is deleted. */
export type RecordingStatus = 'recording' | 'stopped' | 'ready' | 'failed' | 'deleted';

/** The recording of a call. The sound is stored at the carrier. */
export type Recording = {
  readonly callId: string;
  readonly carrier: CarrierName;
  /** The carrier's id of the recording. Null until the carrier has reported it. */
  readonly carrierRecordingId: string | null;
  readonly status: RecordingStatus;
  /** Time at which the peer had heard that the call is recorded. */
  readonly announcedAt: Date;
  /** Milliseconds of the line's age at which the carrier began and stopped. Null when it has not begun, or was not stopped. */
  readonly beganMs: number | null;
  readonly stoppedMs: number | null;
  /** Length of the recording in seconds. Null until the carrier has the complete recording. */
  readonly durationSeconds: number | null;
};

/** The sentence that the agent says to the peer before the recording begins. */
export const RECORDING_NOTICE = 'This call is recorded.';

/** Facts about a recording in the form that events and reports have. */
export type RecordingFacts = {
  readonly consent: 'announced';
  readonly announcedAt: string;
  readonly status: RecordingStatus;
};

export const factsOf = ({
  announcedAt,
  status,
}: Pick<Recording, 'announcedAt' | 'status'>): RecordingFacts => ({
  consent: 'announced',
  announcedAt: announcedAt.toISOString(),
  status,
});

/** Returns the part of the line that is billed as recorded. Undefined when there is no recording. */
export function spanOf(recording: Recording | undefined): RecordedSpan | undefined {
  if (recording === undefined) return undefined;
  const { beganMs, stoppedMs } = recording;
  if (beganMs === null) return { fromSeconds: 0, toSeconds: 0 };
  return {
    fromSeconds: beganMs / 1_000,
    toSeconds: stoppedMs === null ? undefined : stoppedMs / 1_000,
  };
}
