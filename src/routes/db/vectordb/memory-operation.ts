import { z } from 'zod';
import type { Context, LostWork, RouteReply } from '../../../http/route/route.ts';
import { memoryErrors } from '../../../memory/errors.ts';
import { MEMORY_LIMITS } from '../../../memory/limits.ts';
import type { Memory, MemoryOp } from '../../../memory/memory.ts';
import { BODIES } from '../../../memory/memory-shape.ts';
import { askMemory, isKeyed } from './ask-memory.ts';

const Answer = z.object({
  result: z.object({ success: z.literal(true), data: z.looseObject({}) }),
});

/** Returns the common parts of the memory store's routes, which take an agent's key and answer as the store does. */
export const memoryOperation = <Op extends MemoryOp>(op: Op) => ({
  credential: 'agent' as const,
  // The proxy reaches the same operations, which share its rate limit.
  rateLimit: 'proxy' as const,
  maxBodyBytes: MEMORY_LIMITS.body.bytes,
  json: MEMORY_LIMITS.body.json,
  badJson: memoryErrors.invalidJson,
  idempotent: isKeyed(op),
  ...(op === 'ingest' && {
    recall: ({ caller, services, workId }: LostWork<{ memory: Memory }, 'agent'>) =>
      services.memory.recall(caller.agentId, workId),
  }),
  body: BODIES[op],
  response: Answer,

  handle: (
    context: Context<{ memory: Memory }, 'agent', undefined, undefined, (typeof BODIES)[Op]>,
  ): Promise<RouteReply> => askMemory(context.services.memory, op, context.body, context),
});
