import { z } from 'zod';
import { ok, route } from '../../http/route/route.ts';
import { REPORT_LIMITS } from '../../reports/limits.ts';
import { clampDays } from '../../reports/read-window.ts';
import type { RefusedCalls } from '../../reports/refused-calls.ts';
import { RowId } from '../row-id.ts';

const { most, usual } = REPORT_LIMITS.refusalPage;

/** Lists refused and failed calls, newest first, with their counts by reason and by day. */
export const listRefusals = route<{ refusedCalls: RefusedCalls }>()({
  method: 'GET',
  path: '/v1/developer/refusals',
  credential: 'management',
  summary: 'Refused and failed calls, with their reasons',
  query: z.object({
    agentId: RowId.optional(),
    days: z.string().optional(),
    cursor: z.string().optional(),
    limit: z
      .string()
      .regex(/^-?\d{1,9}$/, 'must be a whole number')
      .default(String(usual))
      .transform((text) => Math.min(Math.max(Number(text), 1), most)),
  }),
  response: z.object({
    days: z.number(),
    total: z.number(),
    byReason: z.array(z.object({ reason: z.string(), count: z.number() })),
    byDay: z.array(z.object({ date: z.string(), count: z.number() })),
    /** The first refusals of each agent and UTC day, not all of them. */
    refusals: z.array(
      z.object({
        id: z.string(),
        agentId: z.number(),
        at: z.string(),
        reason: z.string(),
        requestId: z.string(),
        policyId: z.number().nullable(),
        host: z.string().nullable(),
        requiredRaw: z.string().nullable(),
        availableRaw: z.string().nullable(),
      }),
    ),
    nextCursor: z.string().nullable(),
    hasMore: z.boolean(),
  }),

  async handle({ caller, query, services }) {
    const { agentId, cursor, limit } = query;
    const page = { agentId, days: clampDays(query.days), cursor, limit };
    return ok(await services.refusedCalls.page(caller.accountId, page));
  },
});
