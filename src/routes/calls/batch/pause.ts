import { ok, route } from '../../../http/route/route.ts';
import type { Batches } from '../../../phone/batches/batches.ts';
import { ownerOf } from '../call-owner.ts';
import { BatchParams, BatchRecord, batchRecord } from './batch-shape.ts';

/** Places no further call until the batch is resumed. Calls under way go on. */
export const pauseBatch = route<{ batches: Batches }>()({
  method: 'POST',
  path: '/v1/calls/batch/:batchId/pause',
  credential: 'any',
  summary: 'Pause a batch of calls',
  params: BatchParams,
  response: BatchRecord,

  async handle({ caller, params, services }) {
    return ok(batchRecord(await services.batches.pause(ownerOf(caller), params.batchId)));
  },
});
