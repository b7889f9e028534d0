import { z } from 'zod';
import { ok, route } from '../../../http/route/route.ts';
import type { Suspensions } from '../../../phone/suspensions/suspensions.ts';
import { AccountRef } from './suspension-shape.ts';

/** Lifts the suspension of an account's phone service. */
export const adminLiftSuspension = route<{ suspensions: Suspensions }>()({
  method: 'DELETE',
  path: '/v1/admin/telephony-suspensions/:accountId',
  credential: 'admin',
  summary: 'Lift the suspension of a phone service',
  params: AccountRef,
  response: z.object({ accountId: z.string(), lifted: z.literal(true) }),

  async handle({ clientAddress, params, requestId, services }) {
    await services.suspensions.lift(params.accountId, { clientAddress, requestId });
    return ok({ accountId: params.accountId, lifted: true });
  },
});
