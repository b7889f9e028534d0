import { ok, route } from '../../http/route/route.ts';
import type { Calls } from '../../phone/calls/calls.ts';
import { CallAnswer, CallParams } from './call-shape.ts';

/** Reads the state of a call. A call that the agent does not have reads as ringing. */
export const readCall = route<{ calls: Calls }>()({
  method: 'GET',
  path: '/v1/calls/:callId',
  credential: 'agent',
  summary: 'Read a call',
  params: CallParams,
  response: CallAnswer,

  async handle({ caller, params, services }) {
    const call = await services.calls.read(caller.agentId, params.callId);
    return ok(CallAnswer.parse({ ...call, handoffData: call.handoffData ?? undefined }));
  },
});
