import type { RecordedSpan } from '../calls/call-meter.ts';
import type { CarrierName } from '../carriers/carrier.ts';

/** `stopped`: the other side did not agree, and what was recorded is deleted. */
export type RecordingStatus = 'recording' | 'stopped' | 'ready' | 'failed' | 'deleted';

/** The recording of a call, which lies at the carrier. */
export type Recording = {
  readonly callId: string;
  readonly carrier: CarrierName;
  /** Null until the carrier has said it. */
  readonly carrierRecordingId: string | null;
  readonly status: RecordingStatus;
  /** When the far side had heard that the call is recorded. */
  readonly announcedAt: Date;
  /** Age of the line when the carrier began, and when it stopped. Null: it has not begun, or was not asked to stop. */
  readonly beganMs: number | null;
  readonly stoppedMs: number | null;
  /** Null until the carrier has the whole recording. */
  readonly durationSeconds: number | null;
};

/** The sentence that the agent says to the far side before the recording begins. */
export const RECORDING_NOTICE = 'This call is recorded.';

/** A recording as events and reports show it. */
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

/** The part of the line that is billed as recorded. Undefined: none was. */
export function spanOf(recording: Recording | undefined): RecordedSpan | undefined {
  if (recording === undefined) return undefined;
  const { beganMs, stoppedMs } = recording;
  if (beganMs === null) return { fromSeconds: 0, toSeconds: 0 };
  return {
    fromSeconds: beganMs / 1_000,
    toSeconds: stoppedMs === null ? undefined : stoppedMs / 1_000,
  };
}
