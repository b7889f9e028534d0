import { z } from 'zod';
import { ok, route } from '../../../../http/route/route.ts';
import type { Attribution } from '../../../../spend/attribution/attribution.ts';
import { OutcomeBody, ReportedOutcome } from '../../../agents/actions/outcome-shape.ts';
import { AgentParams } from '../agent-shape.ts';

/** Records the outcome of an action as the developer reports it. A later report by the agent or the developer replaces it. */
export const reportOutcomeAsOwner = route<{ attribution: Attribution }>()({
  method: 'POST',
  path: '/v1/developer/agents/:agentId/actions/:actionId/outcome',
  credential: 'management',
  summary: "Report the outcome of an agent's action",
  params: AgentParams.extend({ actionId: z.string() }),
  body: OutcomeBody,
  response: ReportedOutcome,

  async handle({ caller, params, body, services }) {
    const { agentId, actionId } = params;
    return ok(await services.attribution.reportAsOwner(caller.accountId, agentId, actionId, body));
  },
});
