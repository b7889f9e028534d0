import { z } from 'zod';
import type { ActivityFilter } from '../../reports/activity/activity.ts';
import { ACTIVITY_TYPES } from '../../reports/activity/activity-event.ts';
import { REPORT_LIMITS } from '../../reports/limits.ts';
import { readTime } from '../../reports/report-time.ts';

const KINDS: ReadonlySet<string> = new Set(ACTIVITY_TYPES);

/** Filter of a page of activity, in a query or in the arguments of a tool. */
export const ActivityQuery = z.object({
  /** Kinds of activity, separated by commas. */
  type: z
    .string()
    .transform((text) => text.split(',').map((kind) => kind.trim()))
    .refine((kinds) => kinds.every((kind) => KINDS.has(kind)), {
      message: `must be a list of ${ACTIVITY_TYPES.join(', ')}`,
    })
    .optional(),
  since: z.string().optional(),
  until: z.string().optional(),
  cursor: z.string().max(2_048).optional(),
  limit: z
    .string()
    .regex(/^-?\d{1,9}$/, 'must be a whole number')
    .default(String(REPORT_LIMITS.activity.page.usual))
    .transform(Number),
  expand: z.literal('details').optional(),
});

export const ActivityPage = z.object({
  events: z.array(
    z.object({
      id: z.string(),
      type: z.enum(ACTIVITY_TYPES),
      agent: z.object({
        id: z.number(),
        name: z.string(),
        walletAddress: z.string().nullable(),
      }),
      timestamp: z.string(),
      status: z.enum(['success', 'pending', 'failed']),
      summary: z.string(),
      amountRaw: z.string().nullable(),
      txHash: z.string().nullable(),
      details: z.record(z.string(), z.unknown()).optional(),
    }),
  ),
  nextCursor: z.string().nullable(),
  hasMore: z.boolean(),
});

/** Returns the filter of a query. Throws when a time of it does not exist. */
export const activityFilter = (query: z.output<typeof ActivityQuery>): ActivityFilter => ({
  types: query.type as ActivityFilter['types'],
  since: query.since === undefined ? undefined : readTime('since', query.since),
  until: query.until === undefined ? undefined : readTime('until', query.until),
  cursor: query.cursor,
  limit: query.limit,
  hasDetails: query.expand === 'details',
});
