import { z } from 'zod';
import { ok, route } from '../../../http/route/route.ts';
import type { Suspensions } from '../../../phone/suspensions/suspensions.ts';
import { Reason } from './suspension-shape.ts';

/** Lifts all suspensions with one reason, such as the suspensions by the carrier's monthly limit. */
export const adminLiftSuspensions = route<{ suspensions: Suspensions }>()({
  method: 'DELETE',
  path: '/v1/admin/telephony-suspensions',
  credential: 'admin',
  summary: 'Lift all suspensions of phone services with one reason',
  query: z.object({ reason: Reason }),
  response: z.object({ reason: z.string(), lifted: z.number() }),

  async handle({ clientAddress, query, requestId, services }) {
    const { reason } = query;
    const by = { clientAddress, requestId };
    return ok({ reason, lifted: await services.suspensions.liftAll(reason, by) });
  },
});
