import { ChatRequest } from '../../gateway/chat-request.ts';
import type { ChatCompletions } from '../../gateway/complete-chat.ts';
import { readSpender } from '../../gateway/read-spender.ts';
import { route } from '../../http/route.ts';
import { LIMITS } from '../../kernel/limits.ts';
import { refuse } from '../../kernel/refuse.ts';

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
    if (body.stream === true) {
      const message = 'Streamed answers are not available yet; leave out "stream".';
      throw refuse.gateway.invalidRequest(message, 'stream');
    }
    const spender = readSpender(caller, headers);
    return services.chat.complete({ spender, body, workId, signal });
  },
});
