import { z } from 'zod';
import { created, route } from '../../../http/route/route.ts';
import type { CreditThresholds } from '../../../spend/awareness/credit-thresholds.ts';
import { Threshold } from './threshold-shape.ts';

const Body = z.object({
  /** Share of the agent's funding, in basis points. 10000 is all money that was ever added. */
  thresholdBps: z.number().int().min(1).max(10_000),
  webhookId: z.number().int().positive().nullish(),
});

/**
 * Creates a threshold: from now on an event reports when the agent's spending crosses this share of its funding, upwards or
 * downwards.
 */
export const createCreditThreshold = route<{ creditThresholds: CreditThresholds }>()({
  method: 'POST',
  path: '/v1/agents/credit-thresholds',
  credential: 'agent',
  rateLimit: 'control',
  summary: 'Hear of a share of the funding being spent',
  body: Body,
  status: 201,
  response: Threshold,

  async handle({ body, caller, services }) {
    const { thresholdBps, webhookId = null } = body;
    const wanted = { thresholdBps, webhookId };
    return created(await services.creditThresholds.create(caller.agentId, wanted));
  },
});
