import type { ChatCall, ChatRail } from '../rails/chat-rail.ts';
import type { Outcome } from '../rails/outcome.ts';
import { boundChat, type ChatBound, shrinkBound, withCap } from './bound-chat.ts';
import { type BuyDeps, buy, type Wish } from './buy.ts';
import type { Buyer } from './buyer.ts';
import type { ChatRequest } from './chat-request.ts';
import { chatPriceRaw, meterChat } from './chat-usage.ts';
import { deliverWhole } from './deliver-whole.ts';
import { planOffers } from './plan-offers.ts';
import type { Order, Relayed } from './purchase.ts';
import { requireOffers } from './require-model.ts';
import { arePaidByBuyer, type Sellers } from './sellers.ts';
import { deliverStream, type StreamedAnswer } from './stream-chat.ts';

type ChatPurchase = {
  readonly buyer: Buyer;
  readonly body: ChatRequest;
};

export interface ChatCompletions {
  /** Throws the gateway's refusals. Nothing was charged then, but what a refusal tells to look up. */
  complete(purchase: ChatPurchase): Promise<Relayed>;
  /** The same for an answer that is relayed while it comes; a client that leaves ends it, and pays for what came. */
  stream(purchase: ChatPurchase): Promise<Relayed | StreamedAnswer>;
}

/** Buys chat completions: holds the most that one can cost, asks the cheapest source, settles to the use. */
export function createChatCompletions(deps: BuyDeps<ChatRail>): ChatCompletions {
  return {
    complete({ body, buyer }) {
      const wish = wishOf(deps, body, buyer, (rail, call) => rail.complete(call, buyer.signal));
      return buy(deps, buyer, wish, (bought) =>
        deliverWhole(bought, meterChat(body, bought.outcome, bought.source)),
      );
    },
    stream({ body, buyer }) {
      const wish = wishOf(deps, body, buyer, (rail, call) => rail.stream(call, buyer.signal));
      return buy(deps, buyer, wish, (bought) => deliverStream(deps, body, bought));
    },
  };
}

function wishOf<T>(
  { rails }: BuyDeps<ChatRail>,
  body: ChatRequest,
  { spender, workId }: Buyer,
  ask: (rail: ChatRail, call: ChatCall) => Promise<Outcome<T>>,
): Wish<ChatRail, T> {
  const orderWithin = (sellers: Sellers, bound: ChatBound): Order<ChatRail, T> => {
    const { model } = sellers;
    const offers = planOffers(
      sellers,
      (source) => chatPriceRaw(bound.tokens, source),
      (source) => rails.railOf(source),
    );
    // Whoever pays the provider himself bounds the answer himself.
    const sent = arePaidByBuyer(sellers) ? body : withCap(body, bound.outputCap);
    return {
      spender,
      model,
      workId,
      offers: requireOffers(model, offers),
      ask: ({ rail, source }, heldRaw, means) => {
        const { agentId } = spender;
        return ask(rail, { agentId, heldRaw, means, body: sent, model: source.upstreamModel });
      },
      forLess(availableRaw) {
        const less = shrinkBound(bound, body, model, availableRaw);
        return less && orderWithin(sellers, less);
      },
    };
  };
  return {
    modelId: body.model,
    modality: 'text',
    orderOf: (sellers) => orderWithin(sellers, boundChat(body, sellers.model)),
  };
}
