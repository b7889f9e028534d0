import { z } from 'zod';
import { ok, route } from '../../../http/route/route.ts';
import { PHONE_LIMITS } from '../../../phone/limits.ts';
import type { Suspensions } from '../../../phone/suspensions/suspensions.ts';
import { StopRecord, SuspensionRecord, stopRecord, suspensionRecord } from './suspension-shape.ts';

const { most, usual } = PHONE_LIMITS.agent.suspensionPage;

/** Lists the accounts whose phone service is suspended, in pages. */
export const adminListSuspensions = route<{ suspensions: Suspensions }>()({
  method: 'GET',
  path: '/v1/admin/telephony-suspensions',
  credential: 'admin',
  summary: 'List the accounts whose phone service is suspended',
  query: z.object({
    cursor: z.string().max(64).default(''),
    limit: z.coerce.number().int().min(1).max(most).default(usual),
  }),
  response: z.object({
    suspensions: z.array(SuspensionRecord),
    nextCursor: z.string().nullable(),
    /** Suspension of the phone service for all accounts. Null: no such suspension is in force. */
    everyAccount: StopRecord.nullable(),
  }),

  async handle({ query, services }) {
    const page = { after: query.cursor, limit: query.limit };
    const { everyAccount, nextCursor, suspensions } = await services.suspensions.list(page);
    return ok({
      suspensions: suspensions.map(suspensionRecord),
      nextCursor,
      everyAccount: everyAccount && stopRecord(everyAccount),
    });
  },
});
