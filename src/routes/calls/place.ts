import { z } from 'zod';
import { created, route } from '../../http/route/route.ts';
import { readSpender } from '../../models/purchase/read-spender.ts';
import type { Calls } from '../../phone/calls/calls.ts';
import { PlacedCall } from './call-shape.ts';
import { CALL_ORDER_SHAPE, readCallOrder } from './order-shape.ts';

/** Places a call from the agent's number. Nothing is charged before the callee answers. */
export const placeCall = route<{ calls: Calls }>()({
  method: 'POST',
  path: '/v1/calls',
  credential: 'agent',
  summary: 'Call a number',
  idempotent: true,
  rateLimit: 'gateway',
  body: z.object({ toNumber: z.string().max(32), ...CALL_ORDER_SHAPE }),
  response: PlacedCall,

  /** Finds the call of a lost process, so that one key never rings twice. */
  async recall({ caller, services, workId }) {
    const placed = await services.calls.findPlaced(caller.agentId, workId);
    return placed && created(placed);
  },

  async handle({ body, caller, headers, services, workId }) {
    const { agentId: _, ...spender } = readSpender(caller, headers);
    const placed = await services.calls.place({
      ...readCallOrder(body),
      agentId: caller.agentId,
      accountId: caller.accountId,
      spender,
      to: body.toNumber,
      workId,
    });
    return created(placed);
  },
});
