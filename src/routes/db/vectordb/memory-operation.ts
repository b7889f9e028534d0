import { z } from 'zod';
import type { Context, RouteReply } from '../../../http/route/route.ts';
import { errors } from '../../../kernel/errors.ts';
import { LIMITS } from '../../../kernel/limits.ts';
import { abortSignalOf } from '../../../kernel/stop-signal.ts';
import type { Memory, MemoryOp } from '../../../memory/memory.ts';
import { BODIES } from '../../../memory/memory-shape.ts';
import { readSpender } from '../../../models/purchase/read-spender.ts';

const Answer = z.object({
  result: z.object({ success: z.literal(true), data: z.looseObject({}) }),
});

/** What the routes of the memory store have in common: they answer as the store does, with an agent's key. */
export const memoryOperation = <Op extends MemoryOp>(op: Op) => ({
  credential: 'agent' as const,
  // It is reached through the proxy as well.
  rateLimit: 'proxy' as const,
  maxBodyBytes: LIMITS.memory.bodyBytes,
  json: LIMITS.memory.bodyJson,
  badJson: errors.memory.invalidJson,
  body: BODIES[op],
  response: Answer,

  async handle({
    admitPooled,
    body,
    caller,
    headers,
    services,
    signal,
    workId,
  }: Context<
    { memory: Memory },
    'agent',
    undefined,
    undefined,
    (typeof BODIES)[Op]
  >): Promise<RouteReply> {
    const { agentId } = caller;
    const isReadOnly = caller.permission === 'read';
    const spender = readSpender(caller, headers);
    const asking = { agentId, spender, isReadOnly, workId, admitPooled };
    const { bill, ...answer } = await services.memory.run(op, asking, body, abortSignalOf(signal));
    return bill === undefined ? answer : { ...answer, upstreamMs: bill.upstreamMs };
  },
});
