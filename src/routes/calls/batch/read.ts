import { ok, route } from '../../../http/route/route.ts';
import type { Batches } from '../../../phone/batches/batches.ts';
import { ownerOf } from '../call-owner.ts';
import { BatchParams, BatchRecord, batchRecord } from './batch-shape.ts';

/** A batch with its recipients by state and outcome, and its cost. */
export const readBatch = route<{ batches: Batches }>()({
  method: 'GET',
  path: '/v1/calls/batch/:batchId',
  credential: 'any',
  summary: 'Read a batch of calls',
  params: BatchParams,
  response: BatchRecord,

  async handle({ caller, params, services }) {
    return ok(batchRecord(await services.batches.read(ownerOf(caller), params.batchId)));
  },
});
