import type { FetchStream } from '../../../platform/egress/fetch.ts';
import { PHONE_LIMITS } from '../../limits.ts';
import { CarrierFailed, type CarrierRecordings } from '../carrier.ts';
import { streamedWav } from '../streamed-wav.ts';
import { isUnknown, type TwilioAccount, type TwilioApi } from './api.ts';
import type { TwilioHooks } from './hooks.ts';

/** Twilio's name for the recording of a call that is going on. */
const CURRENT = 'Twilio.CURRENT';
/** Twilio's error code for a call whose state allows no recording. */
const NOT_IN_PROGRESS = '21220';

/** Statuses of a recording that ended without sound. */
const NO_SOUND: ReadonlySet<string> = new Set(['absent', 'deleted', 'failed']);
/**
 * Number of a call's recordings that are read. A call has one recording of this server, and more when the account also records
 * by itself.
 */
const MOST_LISTED = 20;

const secondsOf = (duration: unknown): number =>
  /^\d{1,9}$/.test(String(duration)) ? Number(duration) : 0;

/** Creates the recordings of Twilio, in two channels: the caller or callee, and the agent. */
export function createTwilioRecordings(
  deps: TwilioAccount & {
    readonly api: TwilioApi;
    readonly hooks: TwilioHooks;
    readonly fetchStream: FetchStream;
  },
): CarrierRecordings {
  const { accountSid, api, authToken, fetchStream, hooks } = deps;

  type Change = { status: 'paused' | 'in-progress' | 'stopped'; pauseBehavior?: 'silence' };

  /** Changes the state of a recording. Does nothing for a call that is over or not recorded. */
  async function change(callSid: string, to: Change): Promise<void> {
    try {
      await api.ask((client) => client.calls(callSid).recordings(CURRENT).update(to));
    } catch (error) {
      const isOver = error instanceof CarrierFailed && error.code === NOT_IN_PROGRESS;
      if (!isOver && !isUnknown(error)) throw error;
    }
  }

  return {
    async startRecording({ callId, carrierCallId }) {
      const { sid } = await api.ask((client) =>
        client.calls(carrierCallId).recordings.create({
          recordingChannels: 'dual',
          recordingStatusCallback: hooks.recording(callId),
          recordingStatusCallbackMethod: 'POST',
          recordingStatusCallbackEvent: ['completed'],
        }),
      );
      return sid;
    },
    pauseRecording: ({ carrierCallId }) =>
      change(carrierCallId, { status: 'paused', pauseBehavior: 'silence' }),
    resumeRecording: ({ carrierCallId }) => change(carrierCallId, { status: 'in-progress' }),
    stopRecording: ({ carrierCallId }) => change(carrierCallId, { status: 'stopped' }),

    async findRecording({ carrierCallId }, known) {
      const recordings = await api.ask((client) =>
        client.recordings.list({ callSid: carrierCallId, limit: MOST_LISTED }),
      );
      const found = recordings.find(({ sid }) => known === null || sid === known);
      if (found === undefined || NO_SOUND.has(found.status)) return { kind: 'none' };
      const { duration, sid: recordingId, status } = found;
      if (status !== 'completed') return { kind: 'unsure', recordingId };
      return { kind: 'whole', recordingId, durationSeconds: secondsOf(duration) };
    },

    async fetchRecording(recordingSid) {
      const root = deps.baseUrl.replace(/\/+$/, '');
      const path = `2010-04-01/Accounts/${accountSid}/Recordings/${encodeURIComponent(recordingSid)}.wav`;
      const basic = Buffer.from(`${accountSid}:${authToken}`).toString('base64');
      return streamedWav('twilio', fetchStream, {
        url: `${root}/${path}?RequestedChannels=2`,
        method: 'GET',
        headers: { authorization: `Basic ${basic}` },
        timeoutMs: PHONE_LIMITS.recording.fetchMs,
        maxResponseBytes: PHONE_LIMITS.recording.bytes,
      });
    },

    async deleteRecording(recordingSid) {
      try {
        await api.ask((client) => client.recordings(recordingSid).remove());
      } catch (error) {
        if (!isUnknown(error)) throw error;
      }
    },
  };
}
