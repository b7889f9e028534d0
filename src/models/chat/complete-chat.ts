import { requireOffers } from '../catalogue/require-model.ts';
import type { ChatCompletion, ChatRail, ChatStream } from '../providers/chat-rail.ts';
import { answerWhole, type Relayed } from '../purchase/answer.ts';
import { answerEvents, type StreamedAnswer } from '../purchase/answer-events.ts';
import { type BuyDeps, buy } from '../purchase/buy.ts';
import type { Buyer } from '../purchase/buyer.ts';
import { type KeepFirst, keptFirst } from '../purchase/keep-first.ts';
import type { Order, Wanted } from '../purchase/order.ts';
import type { AnswerCap } from '../purchase/receipt.ts';
import { planOffers } from '../routing/plan-offers.ts';
import { arePaidByBuyer, type Seller, type Sellers } from '../routing/sellers.ts';
import { requirePriced } from '../routing/unpriced-features.ts';
import { boundChat, type ChatBound, leastBound, shrinkBound, withCap } from './bound-chat.ts';
import type { ChatRequest } from './chat-request.ts';
import { chatPriceRaw, meterChat } from './chat-usage.ts';

type ChatPurchase = {
  readonly buyer: Buyer;
  readonly body: ChatRequest;
  /** Of an answer that is not streamed. */
  readonly keep?: KeepFirst<ChatCompletion>;
};

export interface ChatCompletions {
  /**
   * Answers whole, or while the answer comes where that is asked for: a client that leaves ends it, and pays for what came.
   * Throws the gateway's refusals. Nothing was charged then, but a payment that the refusal names.
   */
  complete(purchase: ChatPurchase): Promise<Relayed | StreamedAnswer>;
}

type ChatAnswer = ChatCompletion | { readonly stream: ChatStream };

/** Buys chat completions: holds the most that one can cost, asks the cheapest source, settles to the use. */
export function createChatCompletions(deps: BuyDeps<ChatRail>): ChatCompletions {
  return {
    async complete(purchase) {
      const bought = await buy(deps, purchase.buyer, wantedOf(deps, purchase));
      if (bought.kind === 'unsold') return bought.answer;
      const { outcome } = bought;
      return 'stream' in outcome
        ? answerEvents(deps, bought, outcome.stream)
        : answerWhole(bought, outcome);
    },
  };
}

function wantedOf(
  { keepsNames, rails }: Pick<BuyDeps<ChatRail>, 'keepsNames' | 'rails'>,
  { body, buyer: { signal, spender }, keep }: ChatPurchase,
): Wanted<ChatRail, ChatAnswer> {
  const orderWithin = (sellers: Sellers, bound: ChatBound): Order<ChatRail, ChatAnswer> => {
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
      model,
      offers: requireOffers(model, offers),
      ask({ rail, source }, heldRaw, paymentMethod) {
        const call = {
          agentId: spender.agentId,
          heldRaw,
          paymentMethod,
          body: sent,
          model: source.upstreamModel,
          servedAs: keepsNames === true ? undefined : model.id,
        };
        return body.stream === true
          ? rail.stream(call, signal)
          : keptFirst(rail.complete(call, signal), keep);
      },
      meter: (answer, source) => {
        const reported = 'stream' in answer ? answer.stream.metered() : answer;
        return meterChat(body, reported, source, isTheirs ? undefined : bound.tokens);
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
      answerCap: isTheirs ? undefined : capOf(bound),
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
