import type { Catalogue } from '../../gateway/catalogue.ts';
import { describerFor } from '../../gateway/list-models.ts';
import { ok, route } from '../../http/route.ts';
import { ModelsQuery } from './models-query.ts';

/** Every model that can be bought here. Without `include=pricing` it is the plain compatible list. */
export const listModels = route<{ catalogue: Catalogue }>()({
  method: 'GET',
  path: '/v1/models',
  credential: 'any',
  summary: 'List the models of the gateway',
  envelope: 'openai',
  rateLimit: 'none',
  query: ModelsQuery,

  handle({ query, services }) {
    const describe = describerFor(query.include);
    return ok({ object: 'list', data: services.catalogue.models.map(describe) });
  },
});
