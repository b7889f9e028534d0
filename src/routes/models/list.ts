import { isDeepgramClient, modelsOfSound } from '../../deepgram/describe-models.ts';
import { ok, route } from '../../http/route/route.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Catalogue } from '../../models/catalogue/catalogue.ts';
import { describerFor } from '../../models/catalogue/list-models.ts';
import { livingFirst } from '../../models/catalogue/retirement.ts';
import { ModelsQuery } from './models-query.ts';

/** Every model that can be bought here, what its vendor has shut down behind the rest. Without `include=pricing` it is the plain compatible list, and the one of Deepgram for its clients. */
export const listModels = route<{ catalogue: Catalogue; clock: Clock }>()({
  method: 'GET',
  path: '/v1/models',
  credential: 'any',
  summary: 'List the models of the gateway',
  envelope: 'openai',
  acceptsTokenScheme: true,
  rateLimit: 'none',
  query: ModelsQuery,

  handle({ headers, query, services }) {
    const describe = describerFor(query.include);
    const { catalogue, clock } = services;
    const models = livingFirst(catalogue.models, clock.now());
    if (isDeepgramClient(headers)) return ok(modelsOfSound(models));
    return ok({ object: 'list', data: models.map(describe) });
  },
});
