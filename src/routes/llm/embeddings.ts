import { readKeyedBuyer } from '../../gateway/buyer.ts';
import { EmbeddingAnswer, EmbeddingRequest } from '../../gateway/embedding-request.ts';
import type { ProxiedModels } from '../../gateway/proxied-models.ts';
import { route } from '../../http/route.ts';
import { LIMITS } from '../../kernel/limits.ts';

/** Vectors of any model that the caller's own key opens, for the fixed fee. */
export const proxiedEmbeddings = route<{ proxied: ProxiedModels }>()({
  method: 'POST',
  path: '/v1/llm/embeddings',
  credential: 'agent',
  summary: 'Relay embeddings that the caller’s own provider key pays for',
  rateLimit: 'gateway',
  providerKey: 'required',
  idempotent: true,
  maxBodyBytes: LIMITS.embeddingBodyBytes,
  json: LIMITS.embeddingJson,
  body: EmbeddingRequest,
  response: EmbeddingAnswer,

  handle: (context) =>
    context.services.proxied.embeddings.embed({
      buyer: readKeyedBuyer(context),
      body: context.body,
    }),
});
