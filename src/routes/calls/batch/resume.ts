import { ok, route } from '../../../http/route/route.ts';
import type { Batches } from '../../../phone/batches/batches.ts';
import { ownerOf } from '../call-owner.ts';
import { BatchParams, BatchRecord, batchRecord } from './batch-shape.ts';

/** Resumes a paused batch. When an agent's key requests it, the batch pays with that key from now on. */
export const resumeBatch = route<{ batches: Batches }>()({
  method: 'POST',
  path: '/v1/calls/batch/:batchId/resume',
  credential: 'any',
  summary: 'Resume a batch of calls',
  params: BatchParams,
  response: BatchRecord,

  async handle({ caller, params, services }) {
    const key =
      caller.kind === 'agent' ? { keyId: caller.keyId, keyRootId: caller.keyRootId } : undefined;
    const batch = await services.batches.resume(ownerOf(caller), params.batchId, key);
    return ok(batchRecord(batch));
  },
});
