import { z } from 'zod';
import { ok, route } from '../../../../http/route/route.ts';
import type { DoNotCall } from '../../../../phone/dialling/do-not-call.ts';

/** Removes a number from the do-not-call list. */
export const removeDoNotCall = route<{ doNotCall: DoNotCall }>()({
  method: 'DELETE',
  path: '/v1/developer/phone/do-not-call/:phoneNumber',
  credential: 'management',
  summary: 'Let a number be called again',
  params: z.object({ phoneNumber: z.string() }),
  response: z.object({ message: z.string() }),

  async handle({ caller, params, services }) {
    await services.doNotCall.remove(caller.accountId, params.phoneNumber);
    return ok({ message: 'Phone number removed' });
  },
});
