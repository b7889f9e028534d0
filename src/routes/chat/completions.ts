import { ChatRequest } from '../../gateway/chat-request.ts';
import type { ChatCompletions } from '../../gateway/complete-chat.ts';
import { readSpender } from '../../gateway/read-spender.ts';
import { route } from '../../http/route.ts';
import { LIMITS } from '../../kernel/limits.ts';

/** A chat completion, bought from the cheapest source of the model and metered by its tokens. */
export const chatCompletions = route<{ chat: ChatCompletions }>()({
  method: 'POST',
  path: '/v1/chat/completions',
  credential: 'agent',
  summary: 'Buy a chat completion, metered by tokens',
  envelope: 'openai',
  rateLimit: 'gateway',
  idempotent: true,
  maxBodyBytes: LIMITS.chatBodyBytes,
  body: ChatRequest,

  async handle({ body, caller, headers, services, signal, workId }) {
    const wish = { spender: readSpender(caller, headers), body, workId, signal };
    return body.stream === true ? services.chat.stream(wish) : services.chat.complete(wish);
  },
});
