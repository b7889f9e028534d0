import { route } from '../../http/route/route.ts';
import { copyDigits } from '../../kernel/json/digits.ts';
import { MODEL_LIMITS } from '../../models/limits.ts';
import { readBuyer } from '../../models/purchase/buyer.ts';
import type { Responses } from '../../models/responses/responses.ts';
import { ResponsesRequest } from '../../models/responses/responses-request.ts';
import {
  ROUTING_PREFERENCES,
  readPreferences,
  USAGE_PREFERENCE,
} from '../../models/routing/routing-preferences.ts';

/** Sells a response from the cheapest source of the model, metered by its tokens. */
export const createResponse = route<{ responses: Responses }>()({
  method: 'POST',
  path: '/v1/responses',
  credential: 'agent',
  summary: 'Buy a response, metered by tokens',
  envelope: 'openai',
  rateLimit: 'gateway',
  providerKey: 'optional',
  idempotent: true,
  maxBodyBytes: MODEL_LIMITS.chat.bodyBytes,
  json: MODEL_LIMITS.chat.json,
  body: ResponsesRequest.extend({ ...ROUTING_PREFERENCES, usage: USAGE_PREFERENCE }),

  handle(context) {
    const { max_price, models, provider, usage, ...body } = context.body;
    const preferences = readPreferences({ max_price, models, provider });
    const tellsCost = usage?.include === true;
    const buyer = readBuyer(context);
    const request = copyDigits(context.body, body);
    return context.services.responses.create({ buyer, body: request, preferences, tellsCost });
  },
});
