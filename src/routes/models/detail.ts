import { z } from 'zod';
import type { Catalogue } from '../../gateway/catalogue.ts';
import { describerFor } from '../../gateway/list-models.ts';
import { ok, route } from '../../http/route.ts';
import { refuse } from '../../kernel/refuse.ts';
import { ModelsQuery } from './models-query.ts';

/** Clients send the slash of an id as `%2F`, so that it is one segment of the path. */
const Params = z.object({ id: z.string() });

/** One model, in the shape of its entry in the list. */
export const modelDetail = route<{ catalogue: Catalogue }>()({
  method: 'GET',
  path: '/v1/models/:id',
  credential: 'any',
  summary: 'Describe one model of the gateway',
  envelope: 'openai',
  rateLimit: 'none',
  params: Params,
  query: ModelsQuery,

  handle({ params, query, services }) {
    const model = services.catalogue.find(params.id);
    if (model === undefined) {
      throw refuse.gateway.modelNotFound(params.id, services.catalogue.suggest(params.id));
    }
    return ok(describerFor(query.include)(model));
  },
});
