import { z } from 'zod';
import { ok, route } from '../../../http/route/route.ts';
import type { Attribution } from '../../../spend/attribution/attribution.ts';
import { OutcomeBody, ReportedOutcome } from './outcome-shape.ts';

/** Stores the outcome of an action, and replaces an earlier outcome. The action need not have cost anything. */
export const reportOutcome = route<{ attribution: Attribution }>()({
  method: 'POST',
  path: '/v1/agents/actions/:actionId/outcome',
  credential: 'agent',
  rateLimit: 'control',
  summary: 'Report the outcome of an action',
  params: z.object({ actionId: z.string() }),
  body: OutcomeBody,
  response: ReportedOutcome,

  async handle({ caller, params, body, services }) {
    return ok(await services.attribution.report(caller.agentId, params.actionId, body));
  },
});
