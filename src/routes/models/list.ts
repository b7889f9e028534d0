import { z } from 'zod';
import type { Catalogue } from '../../gateway/catalogue.ts';
import { describeModel, describeModelWithPricing } from '../../gateway/list-models.ts';
import { ok, route } from '../../http/route.ts';

const Query = z.object({ include: z.string().max(100).optional() });

/** Every model that can be bought here. Without `include=pricing` it is the plain compatible list. */
export const listModels = route<{ catalogue: Catalogue }>()({
  method: 'GET',
  path: '/v1/models',
  credential: 'any',
  summary: 'List the models of the gateway',
  envelope: 'openai',
  rateLimit: 'none',
  query: Query,

  handle({ query, services }) {
    const priced = query.include?.split(',').includes('pricing') ?? false;
    const describe = priced ? describeModelWithPricing : describeModel;
    return ok({ object: 'list', data: services.catalogue.models.map(describe) });
  },
});
