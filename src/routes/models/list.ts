import { isDeepgramClient, modelsOfSound } from '../../deepgram/describe-models.ts';
import { isAnthropicClient } from '../../http/route/in-dialect.ts';
import { ok, route } from '../../http/route/route.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Catalogue } from '../../models/catalogue/catalogue.ts';
import { describerFor } from '../../models/catalogue/list-models.ts';
import { livingFirst } from '../../models/catalogue/retirement.ts';
import { pageForMessages } from '../../models/messages/model-list.ts';
import { ModelsQuery } from './models-query.ts';

/** Every model that can be bought here, what its vendor has shut down behind the rest. It is OpenAI's list, or that of Anthropic or of Deepgram for their clients. */
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
