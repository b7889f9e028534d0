import { z } from 'zod';
import { isAnthropicClient } from '../../http/route/in-dialect.ts';
import { ok, route } from '../../http/route/route.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Catalogue } from '../../models/catalogue/catalogue.ts';
import { describerFor } from '../../models/catalogue/list-models.ts';
import { gatewayErrors } from '../../models/errors.ts';
import { describeForMessages } from '../../models/messages/model-list.ts';
import {
  describeListed,
  findListed,
  isDeepgramClient,
} from '../../protocols/deepgram/describe-models.ts';
import { ModelsQuery } from './models-query.ts';

/** Id of a model in the path, with its slash as it is or as `%2F`. */
const Params = z.object({ id: z.string() });

/** Describes one model, in the shape of its list entry. Clients of Anthropic and of Deepgram get their own shape. */
export const modelDetail = route<{ catalogue: Catalogue; clock: Clock }>()({
  method: 'GET',
  path: '/v1/models/:id',
  endsInId: true,
  credential: 'any',
  summary: 'Describe one model of the gateway',
  envelope: 'openai',
  alsoAnthropic: true,
  keyHeader: 'x-api-key',
  acceptsTokenScheme: true,
  rateLimit: 'none',
  params: Params,
  query: ModelsQuery,

  handle({ headers, params, query, services }) {
    if (isDeepgramClient(headers)) {
      const listed = findListed(services.catalogue.models, params.id);
      if (listed !== undefined) return ok(describeListed(listed));
    }
    const model = services.catalogue.find(params.id);
    if (model === undefined) {
      throw gatewayErrors.modelNotFound(params.id, services.catalogue.suggest(params.id));
    }
    if (isAnthropicClient(headers)) return ok(describeForMessages(model, services.clock.now()));
    return ok(describerFor(query.include)(model));
  },
});
