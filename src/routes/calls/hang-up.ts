import { z } from 'zod';
import { ok, route } from '../../http/route/route.ts';
import type { Calls } from '../../phone/calls/calls.ts';
import { ownerOf } from './call-owner.ts';
import { CallAnswer, CallParams } from './call-shape.ts';

/** Ends a call and settles its cost up to then. */
export const hangUpCall = route<{ calls: Calls }>()({
  method: 'POST',
  path: '/v1/calls/:callId/hangup',
  credential: 'any',
  summary: 'End a call',
  params: CallParams,
  response: z.union([
    CallAnswer.extend({ terminal: z.literal(true) }),
    z.object({ callId: z.string(), status: z.literal('ending') }),
  ]),

  async handle({ caller, params, services }) {
    const { callId, endReason, status, terminal } = await services.calls.hangUp(
      ownerOf(caller),
      params.callId,
    );
    if (terminal) return ok({ callId, status, terminal, endReason });
    return { ...ok({ callId, status: 'ending' }), status: 202 };
  },
});
