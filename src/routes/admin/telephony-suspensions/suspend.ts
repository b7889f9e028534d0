import { z } from 'zod';
import { adminErrors } from '../../../accounts/errors.ts';
import { ok, route } from '../../../http/route/route.ts';
import type { Suspensions } from '../../../phone/suspensions/suspensions.ts';
import { AccountRef, Reason, SuspensionRecord, suspensionRecord } from './suspension-shape.ts';

/** Suspends the phone service of an account. A repeat changes nothing. */
export const adminSuspendTelephony = route<{ suspensions: Suspensions }>()({
  method: 'PUT',
  path: '/v1/admin/telephony-suspensions/:accountId',
  credential: 'admin',
  summary: 'Suspend the phone service of an account',
  params: AccountRef,
  body: z.object({ reason: Reason.default('admin_manual') }),
  badJson: adminErrors.invalidJson,
  response: SuspensionRecord,

  async handle({ body, clientAddress, params, requestId, services }) {
    const by = { clientAddress, requestId };
    const made = await services.suspensions.suspend(params.accountId, body.reason, by);
    return ok(suspensionRecord(made));
  },
});
