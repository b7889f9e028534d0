import { z } from 'zod';
import { ok, route } from '../../../../http/route/route.ts';
import type { DoNotCall } from '../../../../phone/dialling/do-not-call.ts';
import { PHONE_LIMITS } from '../../../../phone/limits.ts';
import { DoNotCallRecord, doNotCallRecord } from './do-not-call-shape.ts';

const { most, usual } = PHONE_LIMITS.doNotCall.page;

/** Lists the numbers that the account's agents must not call, in pages. */
export const listDoNotCall = route<{ doNotCall: DoNotCall }>()({
  method: 'GET',
  path: '/v1/developer/phone/do-not-call',
  credential: 'management',
  summary: 'List the numbers that must not be called',
  query: z.object({
    limit: z.coerce.number().int().min(1).max(most).default(usual),
    cursor: z
      .string()
      .regex(/^\d{7,15}$/, 'must be the nextCursor of a page')
      .optional(),
  }),
  response: z.object({
    entries: z.array(DoNotCallRecord),
    nextCursor: z.string().nullable(),
    hasMore: z.boolean(),
  }),

  async handle({ caller, query, services }) {
    const { cursor, limit } = query;
    // Cursors omit the plus sign of a number: in a query string it would be decoded as a space.
    const after = cursor === undefined ? undefined : `+${cursor}`;
    const { entries, next } = await services.doNotCall.list(caller.accountId, { after, limit });
    return ok({
      entries: entries.map(doNotCallRecord),
      nextCursor: next?.slice(1) ?? null,
      hasMore: next !== undefined,
    });
  },
});
