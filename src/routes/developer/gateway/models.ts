import { z } from 'zod';
import { type Catalogue, MODALITIES, RAILS } from '../../../gateway/catalogue.ts';
import { describeModelWithSources } from '../../../gateway/list-models.ts';
import { ok, route } from '../../../http/route.ts';
import { UNITS } from '../../../kernel/price.ts';

const Source = z.object({
  rail: z.enum(RAILS),
  provider: z.string(),
  marginBps: z.number(),
  /** USD per million units, before the margin. */
  rates: z.partialRecord(z.enum(UNITS), z.number()),
});

const PricedModel = z.object({
  id: z.string(),
  displayName: z.string().nullable(),
  modality: z.enum(MODALITIES),
  contextWindow: z.number().nullable(),
  isOpenWeight: z.boolean(),
  sources: z.array(Source),
});

/** Every model that can be bought here with all that serve it, the cheapest first. */
export const gatewayModels = route<{ catalogue: Catalogue }>()({
  method: 'GET',
  path: '/v1/developer/gateway/models',
  credential: 'management',
  summary: 'Models of the gateway, with the rates of every source',
  response: z.object({ models: z.array(PricedModel) }),

  handle({ services }) {
    return ok({ models: services.catalogue.models.map(describeModelWithSources) });
  },
});
