import { z } from 'zod';
import { ok, route } from '../../http/route/route.ts';
import type { Responses } from '../../models/responses/responses.ts';
import { ResponseParams } from './response-shape.ts';

/** Deletes a response with all its stored data. Responses that continued it cannot be continued any more. */
export const deleteResponse = route<{ responses: Responses }>()({
  method: 'DELETE',
  path: '/v1/responses/:id',
  credential: 'agent',
  summary: 'Delete a response',
  envelope: 'openai',
  params: ResponseParams,
  response: z.object({ id: z.string(), object: z.literal('response'), deleted: z.literal(true) }),

  async handle({ caller, params, services }) {
    return ok(await services.responses.remove(caller.agentId, params.id));
  },
});
