import type { Call } from '../calls/call.ts';
import type { CallDeps } from '../calls/call-deps.ts';
import type { CallMoney } from '../calls/call-money.ts';
import { CarrierFailed, type CarrierLeg } from '../carriers/carrier.ts';
import {
  insertRecording,
  noteBegan,
  noteEnded,
  noteFailed,
  noteStopped,
} from './recording-store.ts';

/**
 * Records a call at the carrier. Methods without a promise return at once and never throw; all work runs in the order of the
 * calls.
 */
export type CallRecorder = {
  /** Begins the recording, because the peer has heard the notice of it. */
  readonly announced: () => void;
  /** Notes that the peer did not hear the notice, and will not hear it from this process. */
  readonly notAnnounced: () => void;
  /**
   * Ends the recording before another person joins who has not heard the notice. Rejects when the carrier may still be
   * recording.
   */
  readonly finish: () => Promise<void>;
  /** Pauses the recording until `resume`. Rejects when the carrier may still be recording. */
  readonly pause: () => Promise<void>;
  readonly resume: () => void;
  /** Stops the recording and deletes it, because the peer does not agree. */
  readonly stop: () => void;
};

type RecorderDeps = Pick<CallDeps, 'carrier' | 'clock' | 'log' | 'sql'>;

export function createCallRecorder(deps: RecorderDeps, call: Call, money: CallMoney): CallRecorder {
  const { clock, log, sql } = deps;
  const { callId } = call;
  const { lineSeconds, meter, recording } = money;
  const carrier = carrierRecording(deps, call, money);
  let tail: Promise<unknown> = Promise.resolve();
  let isRefused = false;
  /** Number of callers of `pause` that have not called `resume`. The carrier resumes after the last. */
  let pauses = 0;
  const inOrder = (work: () => Promise<void>, failed = async () => {}) => {
    tail = tail
      .then(work)
      .catch(async (err: unknown) => {
        log.warn({ err, callId }, 'the recording of a call failed');
        await failed();
      })
      .catch((err: unknown) => log.error({ err, callId }, 'a recording was not written down'));
  };
  return {
    finish: () => tail.then(carrier.finish),
    pause() {
      const paused = tail.then(async () => {
        if (pauses === 0) await carrier.pause();
        pauses++;
      });
      tail = paused.catch(() => {});
      return paused;
    },
    resume() {
      inOrder(async () => {
        if (--pauses === 0) await carrier.resume();
      });
    },
    announced() {
      const announcedAt = new Date(clock.now());
      inOrder(
        async () => {
          if (!isRefused) await carrier.start(announcedAt);
        },
        async () => {
          meter.recordingEnded(lineSeconds());
          if (recording.facts !== undefined) recording.facts = { announcedAt, status: 'failed' };
          await noteFailed(sql, callId);
        },
      );
    },
    notAnnounced: () => meter.recordingEnded(lineSeconds()),
    stop() {
      isRefused = true;
      inOrder(carrier.stop);
    },
  };
}

/**
 * Controls the recording of one call at its carrier, with its row and its meter. Each method rejects when the carrier did not
 * carry it out.
 */
function carrierRecording(deps: RecorderDeps, call: Call, money: CallMoney) {
  const { carrier, sql } = deps;
  const { agentId, callId, carrierCallId } = call;
  const { lineSeconds, meter, recording } = money;
  const leg = carrierCallId === null ? undefined : { callId, carrierCallId };
  const milliseconds = (seconds: number) => Math.round(seconds * 1_000);

  const status = recording.facts?.status;
  /** True while the carrier may be recording. A recording that another process stored as failed may have started after all. */
  let mayRecord = status === 'recording' || status === 'failed';
  /** Returns the leg while the carrier records it or may be recording it. */
  const recordedLeg = () => (mayRecord ? leg : undefined);
  async function stopRecorded(recorded: CarrierLeg): Promise<void> {
    await carrier.calls.stopRecording(recorded);
    mayRecord = false;
  }

  return {
    async start(announcedAt: Date): Promise<void> {
      const row = { callId, agentId, carrier: carrier.name, announcedAt };
      // Another process has stored the recording first, and starts it.
      if (leg === undefined || !(await insertRecording(sql, row))) return;
      recording.facts = { announcedAt, status: 'recording' };
      mayRecord = true;
      const recordingId = await carrier.calls.startRecording(leg).catch((error: unknown) => {
        // A start that got no answer may have begun a recording.
        mayRecord = !(error instanceof CarrierFailed) || error.kind === 'away';
        throw error;
      });
      const beganSeconds = lineSeconds();
      meter.recordingBegan(beganSeconds);
      await noteBegan(sql, callId, { recordingId, beganMs: milliseconds(beganSeconds) });
    },
    async stop(): Promise<void> {
      const { facts } = recording;
      if (facts === undefined || leg === undefined || facts.status === 'stopped') return;
      recording.facts = { ...facts, status: 'stopped' };
      try {
        await stopRecorded(leg);
      } finally {
        const stoppedSeconds = lineSeconds();
        meter.recordingEnded(stoppedSeconds);
        await noteStopped(sql, callId, milliseconds(stoppedSeconds));
      }
    },
    async finish(): Promise<void> {
      const recorded = recordedLeg();
      if (recorded === undefined) return;
      await stopRecorded(recorded);
      const stoppedSeconds = lineSeconds();
      meter.recordingEnded(stoppedSeconds);
      await noteEnded(sql, callId, milliseconds(stoppedSeconds));
    },
    async pause(): Promise<void> {
      const recorded = recordedLeg();
      if (recorded !== undefined) await carrier.calls.pauseRecording(recorded);
    },
    async resume(): Promise<void> {
      const recorded = recordedLeg();
      if (recorded !== undefined) await carrier.calls.resumeRecording(recorded);
    },
  };
}
