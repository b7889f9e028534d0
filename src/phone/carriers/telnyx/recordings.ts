import { isObject, type Json } from '../../../kernel/json.ts';
import { LIMITS } from '../../../kernel/limits.ts';
import type { FetchStream } from '../../../platform/egress/fetch.ts';
import { CarrierFailed, type CarrierRecordings } from '../carrier.ts';
import { streamedWav } from '../streamed-wav.ts';
import { isUnknown, type TelnyxApi } from './api.ts';

/**
 * Recordings of Telnyx, in two channels. Its callback does not name them: a recording is known here by the leg of its
 * call, and looked up by that.
 */
export function createTelnyxRecordings(deps: {
  readonly api: TelnyxApi;
  readonly fetchStream: FetchStream;
}): CarrierRecordings {
  const { api, fetchStream } = deps;

  async function find(callLegId: string): Promise<Json | undefined> {
    const query = new URLSearchParams({ 'filter[call_leg_id]': callLegId, 'page[size]': '1' });
    const found = await api.ask({ method: 'GET', path: `recordings?${query}` });
    const [first]: readonly unknown[] = Array.isArray(found) ? found : [];
    return isObject(first) ? first : undefined;
  }

  return {
    async startRecording({ callId, carrierCallId }) {
      const isRecording = await api.command(carrierCallId, 'record_start', {
        channels: 'dual',
        format: 'wav',
        command_id: `${callId}-record`,
      });
      if (!isRecording) throw new CarrierFailed('refused', 'telnyx: the call is over');
      return undefined;
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

    async fetchRecording(callLegId) {
      const { download_urls } = (await find(callLegId)) ?? {};
      const url = isObject(download_urls) ? download_urls.wav : undefined;
      if (typeof url !== 'string' || !URL.canParse(url)) return undefined;
      // The address carries its own credential, which ends minutes later.
      return streamedWav('telnyx', fetchStream, {
        url,
        method: 'GET',
        timeoutMs: LIMITS.phone.recordingFetchMs,
        maxResponseBytes: LIMITS.phone.recordingBytes,
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
