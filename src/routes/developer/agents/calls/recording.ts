import { ok, route } from '../../../../http/route/route.ts';
import type { CallRecords } from '../../../../phone/records/call-records.ts';
import { CallParams } from '../../../calls/call-shape.ts';
import { AgentParams } from '../agent-shape.ts';

/** Returns the recording of a call of the developer's agent: a WAV file with one channel for each side. */
export const agentCallRecording = route<{ callRecords: CallRecords }>()({
  method: 'GET',
  path: '/v1/developer/agents/:agentId/calls/:callId/recording',
  credential: 'management',
  summary: "The recording of an agent's call",
  params: AgentParams.extend(CallParams.shape),

  async handle({ caller, params, services }) {
    const owner = { agentId: params.agentId, accountId: caller.accountId };
    const sound = await services.callRecords.recording(owner, params.callId);
    return ok(sound, { 'content-type': 'audio/wav' });
  },
});
