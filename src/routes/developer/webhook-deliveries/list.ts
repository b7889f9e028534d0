import { z } from 'zod';
import { ok, route } from '../../../http/route/route.ts';
import type { WebhookLog } from '../../../webhooks/delivery/deliveries.ts';
import type { LogFilter } from '../../../webhooks/delivery/delivery.ts';
import { webhookErrors } from '../../../webhooks/errors.ts';
import { WEBHOOK_LIMITS } from '../../../webhooks/limits.ts';
import { LogRecord, logRecord } from '../webhooks/webhook-shape.ts';

/** Lists the webhook deliveries of the account, newest first, in pages. */
export const listDeliveries = route<{ webhookLog: WebhookLog }>()({
  method: 'GET',
  path: '/v1/developer/webhook-deliveries',
  credential: 'management',
  summary: 'List the deliveries of all webhooks',
  query: z.object({
    endpoint: z.string().optional(),
    event: z.string().optional(),
    agent: z.string().optional(),
    status: z.string().optional(),
    from: z.string().optional(),
    to: z.string().optional(),
    id: z.string().optional(),
    cursor: z.string().optional(),
    limit: z.string().optional(),
  }),
  response: z.object({
    deliveries: z.array(LogRecord),
    nextCursor: z.string().nullable(),
    hasMore: z.boolean(),
  }),

  async handle({ caller, query, services }) {
    const limit = limitOf(query.limit);
    const filter = { ...readFilter(query), beforeId: readCursor(query.cursor), limit: limit + 1 };
    const found = await services.webhookLog.log(caller.accountId, filter);
    const page = found.slice(0, limit);
    const last = page.at(-1);
    const hasMore = found.length > limit;
    return ok({
      deliveries: page.map(logRecord),
      nextCursor: hasMore && last !== undefined ? cursorAt(last) : null,
      hasMore,
    });
  },
});

const { most, usual } = WEBHOOK_LIMITS.page.log;

/** Returns the page size, clamped to the allowed range. A text that is not a whole number gets the default. */
function limitOf(text: string | undefined): number {
  const limit = Number(text ?? usual);
  return Number.isInteger(limit) ? Math.min(Math.max(limit, 1), most) : usual;
}

const instant = z.iso.datetime({ offset: true }).transform((text) => new Date(text));

const Filter = z
  .object({
    endpoint: z
      .string()
      .regex(/^\d{1,9}$/, 'must be the id of a webhook')
      .transform(Number),
    event: z.string().min(1).max(128),
    agent: z
      .string()
      .regex(/^0x[0-9a-f]{40}$/i, 'must be a wallet address')
      .toLowerCase(),
    status: z.enum(['pending', 'success', 'failed', 'retrying']),
    from: instant,
    to: instant,
    id: z.string().min(1).max(128),
  })
  .partial();

/** Reads the filter of a query. Throws when a member of the filter is malformed. */
function readFilter({
  cursor: _cursor,
  limit: _limit,
  ...query
}: Record<string, unknown>): LogFilter {
  const read = Filter.safeParse(query);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw webhookErrors.invalidFilter(`${issue?.path.join('.')}: ${issue?.message}.`);
}

const Cursor = z.object({ ts: z.string(), id: z.string().regex(/^\d{1,19}$/) });

const cursorAt = ({ createdAt, id }: { readonly createdAt: Date; readonly id: bigint }): string =>
  Buffer.from(JSON.stringify({ ts: createdAt.toISOString(), id: String(id) })).toString('base64');

/** Reads a cursor. Throws when it is not a cursor of an earlier page. */
function readCursor(text: string | undefined): bigint | undefined {
  if (text === undefined) return undefined;
  try {
    return BigInt(Cursor.parse(JSON.parse(Buffer.from(text, 'base64').toString())).id);
  } catch {
    throw webhookErrors.invalidCursor();
  }
}
