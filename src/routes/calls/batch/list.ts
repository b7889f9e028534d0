import { z } from 'zod';
import { ok, route } from '../../../http/route/route.ts';
import type { Batches } from '../../../phone/batches/batches.ts';
import { PHONE_LIMITS } from '../../../phone/limits.ts';
import { ownerOf } from '../call-owner.ts';
import { BatchRecord, batchRecord } from './batch-shape.ts';

const { most, usual } = PHONE_LIMITS.batch.batchPage;

/** The batches of an agent or an account, the latest first. */
export const listBatches = route<{ batches: Batches }>()({
  method: 'GET',
  path: '/v1/calls/batch',
  credential: 'any',
  summary: 'List batches of calls',
  query: z.object({
    status: BatchRecord.shape.status.optional(),
    limit: z.coerce.number().int().min(1).max(most).default(usual),
    cursor: z
      .string()
      .regex(/^\d{1,17}\.batch_[0-9a-f]{32}$/, 'must be the nextCursor of a page')
      .optional(),
  }),
  response: z.object({ batches: z.array(BatchRecord), nextCursor: z.string().nullable() }),

  async handle({ caller, query, services }) {
    const { cursor, limit, status } = query;
    const [madeAtMicros, batchId] = cursor?.split('.') ?? [];
    const after =
      madeAtMicros === undefined || batchId === undefined ? undefined : { madeAtMicros, batchId };
    const { batches, next } = await services.batches.list(ownerOf(caller), {
      after,
      limit,
      status,
    });
    const nextCursor = next === undefined ? null : `${next.madeAtMicros}.${next.batchId}`;
    return ok({ batches: batches.map(batchRecord), nextCursor });
  },
});
