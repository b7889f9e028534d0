import { z } from 'zod';
import { RESPONSES_LIMITS } from '../../models/responses/limits.ts';
import { ResponseId } from '../../models/responses/responses-request.ts';

const { itemsPerPage } = RESPONSES_LIMITS.kept;

export const ResponseParams = z.object({ id: ResponseId });

export const ItemsQuery = z.object({
  limit: z.coerce.number().int().min(1).max(itemsPerPage).optional(),
  order: z.enum(['asc', 'desc']).optional(),
  after: ResponseId.optional(),
});

/** A response in OpenAI's shape. */
export const ResponseRecord = z.looseObject({
  id: z.string(),
  object: z.literal('response'),
  status: z.enum(['completed', 'failed', 'in_progress', 'cancelled', 'incomplete']),
  model: z.string(),
  output: z.array(z.looseObject({ type: z.string() })),
});

export const ItemsPage = z.object({
  object: z.literal('list'),
  data: z.array(z.looseObject({ id: z.string() })),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
  has_more: z.boolean(),
});
