import { z } from 'zod';
import { ok, route } from '../../../http/route/route.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { UNITS } from '../../../kernel/price.ts';
import {
  type Catalogue,
  CERTAINTIES,
  MODALITIES,
  RAILS,
} from '../../../models/catalogue/catalogue.ts';
import { describeModelWithSources } from '../../../models/catalogue/list-models.ts';
import { livingFirst } from '../../../models/catalogue/retirement.ts';

const Source = z.object({
  rail: z.enum(RAILS),
  provider: z.string(),
  marginBps: z.number(),
  /** Source of the rates; null for rates of this server's own, or of its operator. */
  price: z
    .object({ source: z.string(), readOn: z.string(), certainty: z.enum(CERTAINTIES) })
    .nullable(),
  /** Rates by unit, in USD per million units, before the margin. */
  rates: z.partialRecord(z.enum(UNITS), z.number()),
});

const PricedModel = z.object({
  id: z.string(),
  displayName: z.string().nullable(),
  modality: z.enum(MODALITIES),
  contextWindow: z.number().nullable(),
  maxOutputTokens: z.number().nullable(),
  shutdownDate: z.string().nullable(),
  successor: z.string().nullable(),
  isOpenWeight: z.boolean(),
  sources: z.array(Source),
});

/** Lists every model that is for sale here with all its sources, the cheapest first. */
export const gatewayModels = route<{ catalogue: Catalogue; clock: Clock }>()({
  method: 'GET',
  path: '/v1/developer/gateway/models',
  credential: 'management',
  summary: 'Models of the gateway, with the rates of every source',
  response: z.object({ models: z.array(PricedModel) }),

  handle({ services }) {
    const { catalogue, clock } = services;
    const models = livingFirst(catalogue.models, clock.now());
    return ok({ models: models.map(describeModelWithSources) });
  },
});
