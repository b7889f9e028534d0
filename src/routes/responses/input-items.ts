import { okInTurns } from '../../http/route/ok-in-turns.ts';
import { route } from '../../http/route/route.ts';
import type { Responses } from '../../models/responses/responses.ts';
import { ItemsPage, ItemsQuery, ResponseParams } from './response-shape.ts';

/** Lists the input of a response and all earlier items of its conversation, the latest first. */
export const responseInputItems = route<{ responses: Responses }>()({
  method: 'GET',
  path: '/v1/responses/:id/input_items',
  credential: 'agent',
  summary: 'List what a response answers',
  envelope: 'openai',
  params: ResponseParams,
  query: ItemsQuery,
  response: ItemsPage,

  async handle({ caller, params, query, services }) {
    return okInTurns(await services.responses.inputItems(caller.agentId, params.id, query));
  },
});
