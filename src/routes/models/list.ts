import { isAnthropicClient } from '../../http/route/in-dialect.ts';
import { ok, route } from '../../http/route/route.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Catalogue } from '../../models/catalogue/catalogue.ts';
import { describerFor } from '../../models/catalogue/list-models.ts';
import { livingFirst } from '../../models/catalogue/retirement.ts';
import { pageForMessages } from '../../models/messages/model-list.ts';
import { isDeepgramClient, modelsOfSound } from '../../protocols/deepgram/describe-models.ts';
import { ModelsQuery } from './models-query.ts';

/**
 * Lists every model that is for sale here, with models that their vendor has shut down last. The list has OpenAI's shape, or
 * Anthropic's or Deepgram's for their clients.
 */
export const listModels = route<{ catalogue: Catalogue; clock: Clock }>()({
  method: 'GET',
  path: '/v1/models',
  credential: 'any',
  summary: 'List the models of the gateway',
  envelope: 'openai',
  alsoAnthropic: true,
  keyHeader: 'x-api-key',
  acceptsTokenScheme: true,
  rateLimit: 'none',
  query: ModelsQuery,

  handle({ headers, query, services }) {
    const describe = describerFor(query.include);
    const { catalogue, clock } = services;
    const models = livingFirst(catalogue.models, clock.now());
    if (isDeepgramClient(headers)) return ok(modelsOfSound(models));
    if (isAnthropicClient(headers)) return ok(pageForMessages(models, query, clock.now()));
    return ok({ object: 'list', data: models.map(describe) });
  },
});
