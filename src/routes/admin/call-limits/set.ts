import { z } from 'zod';
import { adminErrors } from '../../../accounts/errors.ts';
import { ok, route } from '../../../http/route/route.ts';
import type { CallLimits } from '../../../phone/call-limits/call-limits.ts';
import { AccountRef, CallLimitRecord, ConcurrentCalls } from './call-limit-shape.ts';

/** Sets the number of concurrent calls of an account, above or below the limit for all accounts. Calls in progress continue. */
export const adminSetCallLimit = route<{ callLimits: CallLimits }>()({
  method: 'PUT',
  path: '/v1/admin/call-limits/:accountId',
  credential: 'admin',
  summary: 'Set how many calls an account may have at a time',
  params: AccountRef,
  body: z.object({ concurrentCalls: ConcurrentCalls }),
  badJson: adminErrors.invalidJson,
  response: CallLimitRecord,

  async handle({ body, clientAddress, params, requestId, services }) {
    const by = { clientAddress, requestId };
    return ok(await services.callLimits.set(params.accountId, body.concurrentCalls, by));
  },
});
