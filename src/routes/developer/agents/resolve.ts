import { z } from 'zod';
import { ACCOUNT_LIMITS } from '../../../accounts/limits.ts';
import { ok, route } from '../../../http/route/route.ts';
import { parseAmountRaw } from '../../../kernel/amount.ts';
import type { Awareness } from '../../../spend/awareness/awareness.ts';
import { TaskId } from '../../task-id.ts';
import { AgentParams } from './agent-shape.ts';
import { ChainRow } from './chain-shape.ts';

const Body = z.object({
  host: z.string().min(1).max(255),
  amountRaw: z
    .string()
    .refine(isAmount, {
      message: `must be raw USDC from 0 to ${ACCOUNT_LIMITS.agent.creditRaw}, in digits`,
    })
    .transform((text) => BigInt(text)),
  recipient: z
    .string()
    .regex(/^0x[0-9a-fA-F]{40}$/, 'must be a 0x address')
    .nullish(),
  taskId: TaskId.nullish(),
  keyId: z.number().int().positive().nullish(),
});

function isAmount(text: string): boolean {
  const amountRaw = parseAmountRaw(text);
  return amountRaw !== undefined && amountRaw <= ACCOUNT_LIMITS.agent.creditRaw;
}

/** Returns the verdict on a payment as if it were made now, with its reason. Nothing is held. */
export const resolveAgentSpend = route<{ awareness: Awareness }>()({
  method: 'POST',
  path: '/v1/developer/agents/:agentId/resolve',
  credential: 'management',
  summary: 'What would become of a payment of an agent now',
  right: 'read',
  params: AgentParams,
  body: Body,
  response: z.union([
    z.object({
      decision: z.literal('approve'),
      effectiveRemainingRaw: z.string(),
      binding: ChainRow,
    }),
    z.object({
      decision: z.literal('decline'),
      decline: z.looseObject({ error: z.string(), message: z.string(), detail: z.string() }),
    }),
  ]),

  async handle({ caller, params, body, services }) {
    const { host, amountRaw, recipient = null, taskId = null, keyId = null } = body;
    const question = { host, amountRaw, recipient, taskId, keyId };
    return ok(await services.awareness.resolve(caller.accountId, params.agentId, question));
  },
});
