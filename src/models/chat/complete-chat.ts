import { requireOffers } from '../catalogue/require-model.ts';
import type { ChatCall, ChatRail } from '../providers/chat-rail.ts';
import type { Outcome } from '../providers/outcome.ts';
import { type BuyDeps, buy, type PurchaseRequest } from '../purchase/buy.ts';
import type { Buyer } from '../purchase/buyer.ts';
import { deliverWhole } from '../purchase/deliver-whole.ts';
import type { Order } from '../purchase/order.ts';
import type { Relayed } from '../purchase/purchase.ts';
import type { AnswerCap } from '../purchase/receipt.ts';
import { planOffers } from '../routing/plan-offers.ts';
import { arePaidByBuyer, type Seller, type Sellers } from '../routing/sellers.ts';
import { requirePriced } from '../routing/unpriced-features.ts';
import { boundChat, type ChatBound, leastBound, shrinkBound, withCap } from './bound-chat.ts';
import type { ChatRequest } from './chat-request.ts';
import { chatPriceRaw, meterChat } from './chat-usage.ts';
import { deliverStream, type StreamedAnswer } from './stream-chat.ts';

type ChatPurchase = {
  readonly buyer: Buyer;
  readonly body: ChatRequest;
};

export interface ChatCompletions {
  /** Throws the gateway's refusals. Nothing was charged then, but a payment that the refusal names. */
  complete(purchase: ChatPurchase): Promise<Relayed>;
  /** The same for an answer that is relayed while it comes; a client that leaves ends it, and pays for what came. */
  stream(purchase: ChatPurchase): Promise<Relayed | StreamedAnswer>;
}

/** Buys chat completions: holds the most that one can cost, asks the cheapest source, settles to the use. */
export function createChatCompletions(deps: BuyDeps<ChatRail>): ChatCompletions {
  return {
    complete({ body, buyer }) {
      const wanted = wantedOf(deps, body, buyer, (rail, call) => rail.complete(call, buyer.signal));
      return buy(deps, buyer, wanted, (bought) =>
        deliverWhole(bought, meterChat(body, bought.outcome, bought.source, bought.mostTokens)),
      );
    },
    stream({ body, buyer }) {
      const wanted = wantedOf(deps, body, buyer, (rail, call) => rail.stream(call, buyer.signal));
      return buy(deps, buyer, wanted, (bought) => deliverStream(deps, body, bought));
    },
  };
}

function wantedOf<T>(
  { keepsNames, rails }: BuyDeps<ChatRail>,
  body: ChatRequest,
  { spender, workId }: Buyer,
  ask: (rail: ChatRail, call: ChatCall) => Promise<Outcome<T>>,
): PurchaseRequest<ChatRail, T> {
  const orderWithin = (sellers: Sellers, bound: ChatBound): Order<ChatRail, T> => {
    const { model } = sellers;
    const offers = planOffers(
      sellers,
      (source) => chatPriceRaw(bound.tokens, source),
      (source) => rails.railOf(source),
    );
    const served = sellers.sellers.filter(({ source }) => rails.railOf(source) !== undefined);
    // A caller with a provider key of his own bounds the answer himself.
    const isTheirs = arePaidByBuyer(sellers);
    const sent = isTheirs ? body : withCap(body, bound.outputCap);
    return {
      spender,
      model,
      workId,
      offers: requireOffers(model, offers),
      ask: ({ rail, source }, heldRaw, paymentMethod) => {
        const { agentId } = spender;
        const { upstreamModel } = source;
        const servedAs = keepsNames === true ? undefined : model.id;
        return ask(rail, {
          agentId,
          heldRaw,
          paymentMethod,
          body: sent,
          model: upstreamModel,
          servedAs,
        });
      },
      forLess(room) {
        for (let kept = byPrice(served, bound); kept.length > 0; kept = kept.slice(0, -1)) {
          const sources = kept.map(({ source }) => source);
          const less = shrinkBound(bound, body, sources, room);
          if (less !== undefined) return orderWithin({ ...sellers, sellers: kept }, less);
        }
        return undefined;
      },
      atLeast() {
        const least = leastBound(bound, body);
        const [cheapest] = byPrice(served, least);
        return orderWithin(cheapest ? { ...sellers, sellers: [cheapest] } : sellers, least);
      },
      ...(!isTheirs && { answerCap: capOf(bound), mostTokens: bound.tokens }),
    };
  };
  return {
    modelId: body.model,
    modality: 'text',
    orderOf(sellers) {
      if (!arePaidByBuyer(sellers)) requirePriced(body);
      return orderWithin(sellers, boundChat(body, sellers.model));
    },
  };
}

/** Cheapest first for such a request. */
const byPrice = (sellers: readonly Seller[], { tokens }: ChatBound): Seller[] =>
  sellers
    .map((seller) => ({ seller, raw: chatPriceRaw(tokens, seller.source) }))
    .sort((a, b) => (a.raw < b.raw ? -1 : a.raw > b.raw ? 1 : 0))
    .map(({ seller }) => seller);

const capOf = ({ outputCap: tokens, reason }: ChatBound): AnswerCap | undefined =>
  reason && { tokens, reason };
