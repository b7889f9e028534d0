import { ok, route } from '../../http/route/route.ts';
import type { CallRecords } from '../../phone/records/call-records.ts';
import { CallParams } from './call-shape.ts';

/** Returns the recording of a call, once the carrier has it completely: a WAV file with one channel for each side. */
export const callRecording = route<{ callRecords: CallRecords }>()({
  method: 'GET',
  path: '/v1/calls/:callId/recording',
  credential: 'agent',
  summary: 'The recording of a call',
  params: CallParams,

  async handle({ caller, params, services }) {
    const owner = { agentId: caller.agentId };
    const sound = await services.callRecords.recording(owner, params.callId);
    return ok(sound, { 'content-type': 'audio/wav' });
  },
});
