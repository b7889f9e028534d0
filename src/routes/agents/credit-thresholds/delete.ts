import { z } from 'zod';
import { ok, route } from '../../../http/route/route.ts';
import type { CreditThresholds } from '../../../spend/awareness/credit-thresholds.ts';
import { RowId } from '../../row-id.ts';

/** Deletes a threshold: its crossing is no longer reported. */
export const deleteCreditThreshold = route<{ creditThresholds: CreditThresholds }>()({
  method: 'DELETE',
  path: '/v1/agents/credit-thresholds/:thresholdId',
  credential: 'agent',
  rateLimit: 'control',
  summary: 'Forget a credit threshold',
  params: z.object({ thresholdId: RowId }),
  response: z.object({ deleted: z.number() }),

  async handle({ caller, params, services }) {
    return ok(await services.creditThresholds.remove(caller.agentId, params.thresholdId));
  },
});
