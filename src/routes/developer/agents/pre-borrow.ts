import { z } from 'zod';
import { created, route } from '../../../http/route/route.ts';
import type { PreBorrow } from '../../../spend/limits/pre-borrow.ts';
import { SPEND_LIMITS } from '../../../spend/limits.ts';
import { agentScope } from '../../policy-shape.ts';
import { RawAmount } from '../../raw-amount.ts';
import { TaskId } from '../../task-id.ts';
import { AgentParams } from './agent-shape.ts';

const Body = z.object({
  taskId: TaskId,
  amountRaw: RawAmount,
  ttlSeconds: z.number().int().min(1).max(SPEND_LIMITS.policy.preBorrowSeconds.max).nullish(),
});

/** Reserves money of an agent for one task: no other task can spend it before the reservation expires. */
export const preBorrow = route<{ preBorrow: PreBorrow }>()({
  method: 'POST',
  path: '/v1/developer/agents/:agentId/pre-borrow',
  credential: 'management',
  summary: "Keep an agent's money for one task",
  params: AgentParams,
  body: Body,
  status: 201,
  response: z.object({
    policyId: z.number(),
    taskId: z.string(),
    limitRaw: z.string(),
    expiresAt: z.number(),
    expiresAtIso: z.string(),
  }),

  async handle({ caller, params, body, services }) {
    return created(await services.preBorrow.keep(agentScope(caller, params), body));
  },
});
