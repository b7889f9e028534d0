import { route } from '../../http/route/route.ts';
import type { ProxiedModels } from '../../models/catalogue/proxied-models.ts';
import { EmbeddingAnswer, EmbeddingRequest } from '../../models/embeddings/embedding-request.ts';
import { MODEL_LIMITS } from '../../models/limits.ts';
import { readKeyedBuyer } from '../../models/purchase/buyer.ts';

/** Makes embeddings with any model at the caller's own provider key, for a fixed fee. */
export const proxiedEmbeddings = route<{ proxied: ProxiedModels }>()({
  method: 'POST',
  path: '/v1/llm/embeddings',
  credential: 'agent',
  summary: 'Relay embeddings that the caller’s own provider key pays for',
  rateLimit: 'gateway',
  providerKey: 'required',
  idempotent: true,
  maxBodyBytes: MODEL_LIMITS.embedding.bodyBytes,
  json: MODEL_LIMITS.embedding.json,
  body: EmbeddingRequest,
  response: EmbeddingAnswer,

  handle: (context) =>
    context.services.proxied.embeddings.embed({
      buyer: readKeyedBuyer(context),
      body: context.body,
    }),
});
