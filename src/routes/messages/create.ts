import { requestIdHeader } from '../../http/route/render-error.ts';
import { route } from '../../http/route/route.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { MessagesGateway } from '../../models/messages/buy-messages.ts';
import { MessagesRequest } from '../../models/messages/messages-request.ts';
import { readProtocol } from '../../models/messages/protocol-headers.ts';
import { readBuyer } from '../../models/purchase/buyer.ts';

/** A message in Anthropic's dialect, of any chat model, bought and metered as a chat completion is. */
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
  maxBodyBytes: LIMITS.chatBodyBytes,
  json: LIMITS.chatJson,
  body: MessagesRequest,

  async handle(context) {
    const protocol = readProtocol(context.headers);
    const { body, services } = context;
    const reply = await services.messages.create({ body, buyer: readBuyer(context), protocol });
    return { ...reply, headers: { ...reply.headers, ...requestIdHeader(context.requestId) } };
  },
});
