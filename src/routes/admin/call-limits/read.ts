import { ok, route } from '../../../http/route/route.ts';
import type { CallLimits } from '../../../phone/call-limits/call-limits.ts';
import { AccountRef, CallLimitRecord } from './call-limit-shape.ts';

/** Reads the number of calls at a time that was set for an account. */
export const adminReadCallLimit = route<{ callLimits: CallLimits }>()({
  method: 'GET',
  path: '/v1/admin/call-limits/:accountId',
  credential: 'admin',
  summary: 'Read how many calls an account may have at a time',
  params: AccountRef,
  response: CallLimitRecord,

  async handle({ params, services }) {
    return ok(await services.callLimits.read(params.accountId));
  },
});
