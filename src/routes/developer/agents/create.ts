import { z } from 'zod';
import { ACCOUNT_LIMITS } from '../../../accounts/limits.ts';
import type { Agents } from '../../../accounts/management/agents.ts';
import { created, route } from '../../../http/route/route.ts';
import { parseAmountRaw } from '../../../kernel/amount.ts';
import { AgentRecord } from './agent-shape.ts';

const Body = z
  .object({
    name: z
      .string()
      .min(1)
      .max(ACCOUNT_LIMITS.agent.nameChars)
      .regex(/^[A-Za-z0-9 _-]*$/, 'may hold letters, digits, space, _ and -'),
    /** Credit limit in raw USDC. Absent: the agent is prepaid. */
    borrowLimitRaw: z
      .string()
      .refine((text) => text !== '0' && parseAmountRaw(text) !== undefined, {
        message: 'must be raw USDC above zero, in digits',
      })
      .transform((text) => BigInt(text))
      .optional(),
    maxRateBps: z.number().int().min(1).max(ACCOUNT_LIMITS.agent.maxRateBps).optional(),
    expirySeconds: z
      .number()
      .int()
      .min(ACCOUNT_LIMITS.agent.expirySeconds.min)
      .max(ACCOUNT_LIMITS.agent.expirySeconds.max)
      .optional(),
  })
  .superRefine((body, context) => {
    if (body.borrowLimitRaw === undefined) return;
    for (const name of ['maxRateBps', 'expirySeconds'] as const) {
      if (body[name] !== undefined) continue;
      const message = 'is required beside borrowLimitRaw: an agent that borrows has a bound for it';
      context.addIssue({ code: 'custom', path: [name], message });
    }
  });

/** Creates an agent with its own wallet and an empty balance. */
export const createAgent = route<{ agents: Agents }>()({
  method: 'POST',
  path: '/v1/developer/agents',
  credential: 'management',
  summary: 'Create an agent',
  body: Body,
  status: 201,
  response: AgentRecord.extend({ agent: AgentRecord }),

  async handle({ caller, body, services }) {
    return created(await services.agents.create(caller.accountId, body));
  },
});
