import { z } from 'zod';
import type { Embeddings } from '../gateway/buy-embeddings.ts';
import { EmbeddingRequest } from '../gateway/embedding-request.ts';
import { readSpender } from '../gateway/read-spender.ts';
import { route } from '../http/route.ts';
import { LIMITS } from '../kernel/limits.ts';

/** Vectors of texts, bought from the cheapest source of the model and metered by tokens. */
export const embeddings = route<{ embeddings: Embeddings }>()({
  method: 'POST',
  path: '/v1/embeddings',
  credential: 'agent',
  summary: 'Buy embeddings, metered by tokens',
  envelope: 'openai',
  rateLimit: 'gateway',
  idempotent: true,
  maxBodyBytes: LIMITS.embeddingBodyBytes,
  body: EmbeddingRequest,
  response: z.looseObject({
    object: z.literal('list'),
    data: z.array(
      z.looseObject({
        object: z.literal('embedding'),
        index: z.number(),
        embedding: z.union([z.array(z.number()), z.string()]),
      }),
    ),
    model: z.string(),
    usage: z.looseObject({ prompt_tokens: z.number(), total_tokens: z.number() }),
  }),

  async handle({ body, caller, headers, services, signal, workId }) {
    const spender = readSpender(caller, headers);
    return services.embeddings.embed({ spender, body, workId, signal });
  },
});
