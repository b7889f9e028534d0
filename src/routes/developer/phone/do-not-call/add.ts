import { z } from 'zod';
import { created, route } from '../../../../http/route/route.ts';
import type { DoNotCall } from '../../../../phone/dialling/do-not-call.ts';
import { DoNotCallRecord, doNotCallRecord } from './do-not-call-shape.ts';

/** Adds a number to the list. An entry that exists stays as it is. */
export const addDoNotCall = route<{ doNotCall: DoNotCall }>()({
  method: 'POST',
  path: '/v1/developer/phone/do-not-call',
  credential: 'management',
  summary: 'Have a number called no more',
  status: 201,
  body: z.object({ phoneNumber: z.string() }),
  response: z.object({ entry: DoNotCallRecord }),

  async handle({ body, caller, services }) {
    const entry = await services.doNotCall.add(caller.accountId, body.phoneNumber);
    return created({ entry: doNotCallRecord(entry) });
  },
});
