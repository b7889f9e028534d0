import { route } from '../../http/route/route.ts';
import { copyDigits } from '../../kernel/json/digits.ts';
import { ChatRequest } from '../../models/chat/chat-request.ts';
import type { ChatCompletions } from '../../models/chat/complete-chat.ts';
import { MODEL_LIMITS } from '../../models/limits.ts';
import { readBuyer } from '../../models/purchase/buyer.ts';
import {
  ROUTING_PREFERENCES,
  readPreferences,
  USAGE_PREFERENCE,
} from '../../models/routing/routing-preferences.ts';

/**
 * Request for a chat completion, with members that only this server reads: routing preferences, and whether to report the
 * price.
 */
const RoutedChat = ChatRequest.extend({ ...ROUTING_PREFERENCES, usage: USAGE_PREFERENCE });

/** Sells a chat completion from the cheapest source of the model, metered by its tokens. */
export const chatCompletions = route<{ chat: ChatCompletions }>()({
  method: 'POST',
  path: '/v1/chat/completions',
  credential: 'agent',
  summary: 'Buy a chat completion, metered by tokens',
  envelope: 'openai',
  rateLimit: 'gateway',
  providerKey: 'optional',
  idempotent: true,
  maxBodyBytes: MODEL_LIMITS.chat.bodyBytes,
  json: MODEL_LIMITS.chat.json,
  body: RoutedChat,

  handle(context) {
    const { max_price, models, provider, usage, ...body } = context.body;
    return context.services.chat.complete({
      buyer: readBuyer(context),
      body: copyDigits(context.body, body),
      preferences: readPreferences({ max_price, models, provider }),
      tellsCost: usage?.include === true,
    });
  },
});
