import type { ChatCompletion, ChatRail } from '../providers/chat-rail.ts';
import { answerWhole, type Relayed } from '../purchase/answer.ts';
import { answerEvents, type StreamedAnswer } from '../purchase/answer-events.ts';
import { buy } from '../purchase/buy.ts';
import type { Buyer } from '../purchase/buyer.ts';
import { priceInBody } from '../purchase/price-in-usage.ts';
import { type StoreDelivered, storeBeforeCharge } from '../purchase/store-before-charge.ts';
import type { RoutingPreferences } from '../routing/routing-preferences.ts';
import { requirePriced } from '../routing/unpriced-features.ts';
import { withCap } from './bound-chat.ts';
import {
  type ChatDeps,
  chatCall,
  chatPurchases,
  type DialectChat,
  reportedOf,
  withModel,
} from './chat-purchase.ts';
import type { ChatRequest } from './chat-request.ts';
import { PriceInChatStream, withUsage } from './price-in-chat-stream.ts';

type ChatPurchase = {
  readonly buyer: Buyer;
  readonly body: ChatRequest;
  /** Routing preferences of the buyer: other models, and providers. Undefined: none. */
  readonly wishes?: RoutingPreferences | undefined;
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
 * actual usage.
 */
export function createChatCompletions(deps: ChatDeps<ChatRail>): ChatCompletions {
  return {
    async complete({ body, buyer, keep, tellsCost = false, wishes }) {
      const asked = tellsCost ? withUsage(body) : body;
      const ofModel = (model: string) => questionOf(withModel(asked, model), keep);
      const wanted = chatPurchases(deps, ofModel, buyer, { model: body.model, wishes });
      const bought = await buy(deps, buyer, wanted);
      if (bought.kind === 'unsold') return bought.answer;
      const { outcome } = bought;
      if ('stream' in outcome) {
        const events = tellsCost ? new PriceInChatStream(outcome.stream) : outcome.stream;
        return answerEvents(deps, bought, events);
      }
      return answerWhole(bought, outcome, tellsCost ? priceInBody : undefined);
    },
  };
}

const questionOf = (
  body: ChatRequest,
  keep: StoreDelivered<ChatCompletion> | undefined,
): DialectChat => ({
  measured: body,
  reported: reportedOf,
  needsMarks: ({ messages }) => messages !== undefined,
  requirePriced: () => requirePriced(body),
  ask(rail, asked, outputCap, signal) {
    const call = chatCall(asked, {
      body: outputCap === undefined ? body : withCap(body, outputCap),
      servedAs: asked.servedAs,
    });
    return body.stream === true
      ? rail.stream(call, signal)
      : storeBeforeCharge(rail.complete(call, signal), keep);
  },
});
