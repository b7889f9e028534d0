import { route } from '../http/route/route.ts';
import type { Embeddings } from '../models/embeddings/buy-embeddings.ts';
import { EmbeddingAnswer, EmbeddingRequest } from '../models/embeddings/embedding-request.ts';
import { MODEL_LIMITS } from '../models/limits.ts';
import { readBuyer } from '../models/purchase/buyer.ts';
import { USAGE_PREFERENCE } from '../models/routing/routing-preferences.ts';

/** Sells vectors of texts from the cheapest source of the model, metered by tokens. */
export const embeddings = route<{ embeddings: Embeddings }>()({
  method: 'POST',
  path: '/v1/embeddings',
  credential: 'agent',
  summary: 'Buy embeddings, metered by tokens',
  envelope: 'openai',
  rateLimit: 'gateway',
  providerKey: 'optional',
  idempotent: true,
  maxBodyBytes: MODEL_LIMITS.embedding.bodyBytes,
  json: MODEL_LIMITS.embedding.json,
  body: EmbeddingRequest.extend({ usage: USAGE_PREFERENCE }),
  response: EmbeddingAnswer,

  handle(context) {
    const { usage, ...body } = context.body;
    const tellsCost = usage?.include === true;
    return context.services.embeddings.embed({ buyer: readBuyer(context), body, tellsCost });
  },
});
