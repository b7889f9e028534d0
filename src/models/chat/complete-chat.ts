import type { ChatCompletion, ChatRail } from '../providers/chat-rail.ts';
import { answerWhole, type Relayed } from '../purchase/answer.ts';
import { answerEvents, type StreamedAnswer } from '../purchase/answer-events.ts';
import { buy } from '../purchase/buy.ts';
import type { Buyer } from '../purchase/buyer.ts';
import { priceInBody } from '../purchase/price-in-usage.ts';
import type { StoreDelivered } from '../purchase/store-before-charge.ts';
import type { RoutingPreferences } from '../routing/routing-preferences.ts';
import { type ChatDeps, chatProduct } from './chat-product.ts';
import type { ChatRequest } from './chat-request.ts';
import { PriceInChatStream, withUsage } from './price-in-chat-stream.ts';
import { PromptBeginnings } from './prompt-beginnings.ts';
import { COMPLETIONS } from './send-chat.ts';

type ChatPurchase = {
  readonly buyer: Buyer;
  readonly body: ChatRequest;
  /** Routing preferences of the buyer: other models, and providers. Undefined: none. */
  readonly preferences?: RoutingPreferences | undefined;
  /** True when the answer's `usage` also gets the price, as `cost_raw`. */
  readonly tellsCost?: boolean;
  /** Stores an answer before it is charged. Only for answers that are not streamed. */
  readonly keep?: StoreDelivered<ChatCompletion> | undefined;
};

export interface ChatCompletions {
  /**
   * Answers a chat, whole or as a stream if the request asks for one. A client that leaves ends the answer and pays for the
   * delivered part. Throws the gateway's refusals; then nothing is charged except a payment that the refusal names.
   */
  complete(purchase: ChatPurchase): Promise<Relayed | StreamedAnswer>;
}

/**
 * Creates the purchase of chat completions: holds the upper bound of the cost, requests the cheapest source, and settles the
 * actual usage. `chat-price.ts` computes the price.
 */
export function createChatCompletions(deps: ChatDeps<ChatRail>): ChatCompletions {
  const product = chatProduct(deps, COMPLETIONS);
  return {
    async complete({ body: given, buyer, keep, preferences, tellsCost = false }) {
      const measured = tellsCost ? withUsage(given) : given;
      const body = { measured, beginnings: new PromptBeginnings(measured), keep };
      const bought = await buy(deps, product, buyer, { model: given.model, body, preferences });
      if (bought.kind === 'not_delivered') return bought.answer;
      const { outcome } = bought;
      if ('stream' in outcome) {
        const events = tellsCost ? new PriceInChatStream(outcome.stream) : outcome.stream;
        return answerEvents(deps, bought, events);
      }
      return answerWhole(bought, outcome, tellsCost ? priceInBody : undefined);
    },
  };
}
