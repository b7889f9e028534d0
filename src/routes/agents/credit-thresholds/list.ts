import { z } from 'zod';
import { ok, route } from '../../../http/route/route.ts';
import type { CreditThresholds } from '../../../spend/awareness/credit-thresholds.ts';
import { Threshold } from './threshold-shape.ts';

/** Lists the shares of the agent's funding whose crossing is reported by an event. */
export const listCreditThresholds = route<{ creditThresholds: CreditThresholds }>()({
  method: 'GET',
  path: '/v1/agents/credit-thresholds',
  credential: 'agent',
  summary: 'List credit thresholds',
  response: z.object({ subscriptions: z.array(Threshold) }),

  async handle({ caller, services }) {
    return ok({ subscriptions: await services.creditThresholds.list(caller.agentId) });
  },
});
