import { okInTurns } from '../../http/route/ok-in-turns.ts';
import { route } from '../../http/route/route.ts';
import type { Responses } from '../../models/responses/responses.ts';
import { ResponseParams, ResponseRecord } from './response-shape.ts';

/** Cancels a response that this process is streaming. The output up to then is charged. */
export const cancelResponse = route<{ responses: Responses }>()({
  method: 'POST',
  path: '/v1/responses/:id/cancel',
  credential: 'agent',
  summary: 'Cancel a response that is being streamed',
  envelope: 'openai',
  params: ResponseParams,
  response: ResponseRecord,

  async handle({ caller, params, services }) {
    return okInTurns(await services.responses.cancel(caller.agentId, params.id));
  },
});
