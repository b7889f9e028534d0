import { ok, route } from '../../../http/route/route.ts';
import type { Batches } from '../../../phone/batches/batches.ts';
import { ownerOf } from '../call-owner.ts';
import { BatchParams, BatchRecord, batchRecord } from './batch-shape.ts';

/** Pauses a batch: no further call is placed until it is resumed. Calls in progress continue. */
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
