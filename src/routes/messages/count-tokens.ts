import { z } from 'zod';
import { JSON_TYPE } from '../../http/route/answer.ts';
import { REQUEST_ID_HEADER } from '../../http/route/render-error.ts';
import { route } from '../../http/route/route.ts';
import { BRAND } from '../../kernel/ids.ts';
import { MODEL_LIMITS } from '../../models/limits.ts';
import type { MessageTokens } from '../../models/messages/count-tokens.ts';
import { CountRequest } from '../../models/messages/messages-request.ts';
import { readProtocol } from '../../models/messages/protocol-headers.ts';
import { readBuyer } from '../../models/purchase/buyer.ts';

const COUNTED_BY = `${BRAND.headerPrefix}token-count`;

/**
 * Counts the tokens of a prompt in Anthropic's dialect, free of charge. The response says whether the provider counted them.
 */
export const countMessageTokens = route<{ messageTokens: MessageTokens }>()({
  method: 'POST',
  path: '/v1/messages/count_tokens',
  credential: 'agent',
  summary: 'Count the tokens of a prompt in the Messages dialect',
  envelope: 'anthropic',
  keyHeader: 'x-api-key',
  permission: 'read',
  rateLimit: 'gateway',
  providerKey: 'optional',
  maxBodyBytes: MODEL_LIMITS.chat.bodyBytes,
  json: MODEL_LIMITS.chat.json,
  body: CountRequest,
  response: z.object({ input_tokens: z.number() }),

  async handle(context) {
    const protocol = readProtocol(context.headers);
    const { body, requestId, services } = context;
    const count = await services.messageTokens.count({ body, buyer: readBuyer(context), protocol });
    const headers = { 'content-type': JSON_TYPE, [REQUEST_ID_HEADER]: requestId };
    if (count.kind === 'refused') return { status: count.status, body: count.body, headers };
    return {
      status: 200,
      body: { input_tokens: count.inputTokens },
      headers: { ...headers, [COUNTED_BY]: count.by },
    };
  },
});
