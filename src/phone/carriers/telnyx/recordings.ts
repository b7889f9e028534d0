import { isObject, type Json } from '../../../kernel/json.ts';
import type { FetchStream } from '../../../platform/egress/fetch.ts';
import { PHONE_LIMITS } from '../../limits.ts';
import { CarrierFailed, type CarrierRecordings } from '../carrier.ts';
import { streamedWav } from '../streamed-wav.ts';
import { isUnknown, type TelnyxApi } from './api.ts';

/**
 * Creates the recordings of Telnyx, in two channels. The callback has no recording id: the id used here is the call leg, by
 * which the recording is looked up.
 */
export function createTelnyxRecordings(deps: {
  readonly api: TelnyxApi;
  readonly fetchStream: FetchStream;
}): CarrierRecordings {
  const { api, fetchStream } = deps;

  /** Returns the id of a call's leg. Undefined when Telnyx does not know the call: it forgets a call minutes after its end. */
  async function legOf(callControlId: string): Promise<string | undefined> {
    const path = `calls/${encodeURIComponent(callControlId)}`;
    const call = await api.ask({ method: 'GET', path }).catch((error: unknown) => {
      if (error instanceof CarrierFailed && error.kind === 'refused') return undefined;
      throw error;
    });
    const leg = isObject(call) ? call.call_leg_id : undefined;
    return typeof leg === 'string' ? leg : undefined;
  }

  async function find(callLegId: string): Promise<Json | undefined> {
    const query = new URLSearchParams({ 'filter[call_leg_id]': callLegId, 'page[size]': '1' });
    const found = await api.ask({ method: 'GET', path: `recordings?${query}` });
    const [first]: readonly unknown[] = Array.isArray(found) ? found : [];
    return isObject(first) ? first : undefined;
  }

  return {
    async startRecording({ callId, carrierCallId }) {
      const [isRecording, leg] = await Promise.all([
        api.command(carrierCallId, 'record_start', {
          channels: 'dual',
          format: 'wav',
          command_id: `${callId}-record`,
        }),
        // When the leg's id cannot be read, the recording continues without it: the callback brings the id, too.
        legOf(carrierCallId).catch(() => undefined),
      ]);
      if (!isRecording) throw new CarrierFailed('refused', 'telnyx: the call is over');
      return leg;
    },
    async pauseRecording({ carrierCallId }) {
      await api.command(carrierCallId, 'record_pause', {});
    },
    async resumeRecording({ carrierCallId }) {
      await api.command(carrierCallId, 'record_resume', {});
    },
    async stopRecording({ carrierCallId }) {
      await api.command(carrierCallId, 'record_stop', {});
    },

    async findRecording({ carrierCallId }, known) {
      const recordingId = known ?? (await legOf(carrierCallId));
      if (recordingId === undefined) return { kind: 'unsure' };
      const found = await find(recordingId);
      if (found === undefined) return { kind: 'none', recordingId };
      const { duration_millis } = found;
      const durationMs = Number.isSafeInteger(duration_millis) ? (duration_millis as number) : 0;
      return { kind: 'whole', recordingId, durationSeconds: Math.round(durationMs / 1_000) };
    },

    async fetchRecording(callLegId) {
      const { download_urls } = (await find(callLegId)) ?? {};
      const url = isObject(download_urls) ? download_urls.wav : undefined;
      if (typeof url !== 'string' || !URL.canParse(url)) return undefined;
      // The URL contains its own credential, which expires minutes later.
      return streamedWav('telnyx', fetchStream, {
        url,
        method: 'GET',
        timeoutMs: PHONE_LIMITS.recording.fetchMs,
        maxResponseBytes: PHONE_LIMITS.recording.bytes,
      });
    },

    async deleteRecording(callLegId) {
      const { id } = (await find(callLegId)) ?? {};
      if (typeof id !== 'string') return;
      try {
        await api.ask({ method: 'DELETE', path: `recordings/${encodeURIComponent(id)}` });
      } catch (error) {
        if (!isUnknown(error)) throw error;
      }
    },
  };
}
