import { REQUEST_ID_HEADER } from '../../http/route/render-error.ts';
import { route } from '../../http/route/route.ts';
import { copyDigits } from '../../kernel/json/digits.ts';
import { MODEL_LIMITS } from '../../models/limits.ts';
import type { MessagesGateway } from '../../models/messages/buy-messages.ts';
import { MessagesRequest } from '../../models/messages/messages-request.ts';
import { readProtocol } from '../../models/messages/protocol-headers.ts';
import { readBuyer } from '../../models/purchase/buyer.ts';
import {
  ROUTING_PREFERENCES,
  readPreferences,
  USAGE_PREFERENCE,
} from '../../models/routing/routing-preferences.ts';

/** Sells a message in Anthropic's dialect, of any chat model, metered as a chat completion is. */
export const createMessage = route<{ messages: MessagesGateway }>()({
  method: 'POST',
  path: '/v1/messages',
  credential: 'agent',
  summary: 'Buy an answer in the Messages dialect, metered by tokens',
  envelope: 'anthropic',
  keyHeader: 'x-api-key',
  rateLimit: 'gateway',
  providerKey: 'optional',
  idempotent: true,
  maxBodyBytes: MODEL_LIMITS.chat.bodyBytes,
  json: MODEL_LIMITS.chat.json,
  body: MessagesRequest.extend({ ...ROUTING_PREFERENCES, usage: USAGE_PREFERENCE }),

  async handle(context) {
    const protocol = readProtocol(context.headers);
    const { max_price, models, provider, usage, ...body } = context.body;
    const preferences = readPreferences({ max_price, models, provider });
    const answer = await context.services.messages.create({
      body: copyDigits(context.body, body),
      protocol,
      preferences,
      buyer: readBuyer(context),
      tellsCost: usage?.include === true,
    });
    return {
      status: answer.status,
      body: answer.body,
      headers: answer.headers,
      lines: [[REQUEST_ID_HEADER, context.requestId]],
      upstreamMs: answer.upstreamMs,
    };
  },
});
