import { z } from 'zod';
import { ok, route } from '../../../http/route/route.ts';
import type { Batches } from '../../../phone/batches/batches.ts';
import { ownerOf } from '../call-owner.ts';
import { BatchParams, BatchRecord, batchRecord } from './batch-shape.ts';

/** Ends a batch: no further call is placed. */
export const cancelBatch = route<{ batches: Batches }>()({
  method: 'POST',
  path: '/v1/calls/batch/:batchId/cancel',
  credential: 'any',
  summary: 'Cancel a batch of calls',
  params: BatchParams,
  body: z.object({
    /** Calls that ring or are talked end as well. */
    hangup: z.boolean().default(false),
  }),
  response: BatchRecord,

  async handle({ body, caller, params, services }) {
    const how = { hangUp: body.hangup };
    return ok(batchRecord(await services.batches.cancel(ownerOf(caller), params.batchId, how)));
  },
});
