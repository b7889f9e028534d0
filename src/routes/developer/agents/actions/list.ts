import { z } from 'zod';
import { ok, route } from '../../../../http/route/route.ts';
import type { Attribution } from '../../../../spend/attribution/attribution.ts';
import { SPEND_LIMITS } from '../../../../spend/limits.ts';
import { OutcomeRecord } from '../../../agents/actions/outcome-shape.ts';
import { AgentParams } from '../agent-shape.ts';

const { default: usual, max } = SPEND_LIMITS.report.actions;

/** Lists the cost and the outcome of an agent's actions, the latest first. */
export const listActions = route<{ attribution: Attribution }>()({
  method: 'GET',
  path: '/v1/developer/agents/:agentId/actions',
  credential: 'management',
  summary: 'Calls, settled spend and outcome of each action',
  params: AgentParams,
  query: z.object({
    /** Number of actions, clamped to the allowed range. A text that is not a whole number is refused. */
    limit: z
      .string()
      .regex(/^-?\d+$/, 'must be a whole number')
      .default(String(usual))
      .transform((text) => Math.min(max, Math.max(1, Number(text)))),
  }),
  response: z.object({
    actions: z.array(
      z.object({
        actionId: z.string(),
        calls: z.number(),
        spentRaw: z.string(),
        firstSeen: z.string().nullable(),
        lastSeen: z.string().nullable(),
        outcome: OutcomeRecord.nullable(),
      }),
    ),
  }),

  async handle({ caller, params, query, services }) {
    return ok(await services.attribution.actions(caller.accountId, params.agentId, query.limit));
  },
});
