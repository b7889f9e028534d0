import { route } from '../../../http/route/route.ts';
import type { ProxiedModels } from '../../../models/catalogue/proxied-models.ts';
import { ChatRequest } from '../../../models/chat/chat-request.ts';
import { MODEL_LIMITS } from '../../../models/limits.ts';
import { readKeyedBuyer } from '../../../models/purchase/buyer.ts';

/** Makes a chat completion with any model at the caller's own provider key, for a fixed fee. */
export const proxiedChat = route<{ proxied: ProxiedModels }>()({
  method: 'POST',
  path: '/v1/llm/chat/completions',
  credential: 'agent',
  summary: 'Relay a chat completion that the caller’s own provider key pays for',
  rateLimit: 'gateway',
  providerKey: 'required',
  idempotent: true,
  maxBodyBytes: MODEL_LIMITS.chat.bodyBytes,
  json: MODEL_LIMITS.chat.json,
  body: ChatRequest,

  handle: (context) =>
    context.services.proxied.chat.complete({ buyer: readKeyedBuyer(context), body: context.body }),
});
