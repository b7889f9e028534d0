import type { Spender } from '../ledger/ledger.ts';
import type { ChatCall, ChatCompletion, ChatRail } from '../rails/chat-rail.ts';
import type { Outcome } from '../rails/outcome.ts';
import { boundChat, type ChatBound, shrinkBound, withCap } from './bound-chat.ts';
import type { Catalogue } from './catalogue.ts';
import type { ChatRails } from './chat-rails.ts';
import type { ChatRequest } from './chat-request.ts';
import { chatPriceRaw, meterChat } from './chat-usage.ts';
import { planOffers } from './plan-offers.ts';
import {
  type Bought,
  type Order,
  type PurchaseDeps,
  purchase,
  type Relayed,
  relay,
} from './purchase.ts';
import { receiptHeaders } from './receipt.ts';
import { requireModel, requireOffers } from './require-model.ts';
import { deliverStream, type StreamedAnswer } from './stream-chat.ts';

type ChatPurchase = {
  readonly spender: Spender;
  readonly body: ChatRequest;
  /** Becomes the id of the hold. */
  readonly workId?: string | undefined;
  /** Fires when the client leaves. */
  readonly signal: AbortSignal;
};

export interface ChatCompletions {
  /** Throws the gateway's refusals; whatever it throws, nothing was charged. */
  complete(purchase: ChatPurchase): Promise<Relayed>;
  /** The same for an answer that is relayed while it comes; a client that leaves ends it, and pays for what came. */
  stream(purchase: ChatPurchase): Promise<Relayed | StreamedAnswer>;
}

export type ChatCompletionsDeps = PurchaseDeps & {
  readonly catalogue: Catalogue;
  readonly rails: ChatRails;
};

/** Buys chat completions: holds the most that one can cost, asks the cheapest source, settles to the use. */
export function createChatCompletions(deps: ChatCompletionsDeps): ChatCompletions {
  return {
    async complete(wish) {
      const { body, signal } = wish;
      const order = orderOf(deps, wish, (rail, call) => rail.complete(call, signal));
      return purchase(deps, order, (bought) => deliverWhole(body, bought));
    },
    async stream(wish) {
      const { body, signal } = wish;
      const order = orderOf(deps, wish, (rail, call) => rail.stream(call, signal));
      return purchase(deps, order, (bought) => deliverStream(deps, body, bought));
    },
  };
}

function orderOf<T>(
  { catalogue, rails }: ChatCompletionsDeps,
  { spender, body, workId }: ChatPurchase,
  ask: (rail: ChatRail, call: ChatCall) => Promise<Outcome<T>>,
): Order<ChatRail, T> {
  const model = requireModel(catalogue, body.model, 'text');
  const orderWithin = (bound: ChatBound): Order<ChatRail, T> => {
    const offers = planOffers(
      model,
      (source) => chatPriceRaw(bound.tokens, source),
      (source) => rails.railOf(source),
    );
    const sent = withCap(body, bound.outputCap);
    return {
      ...{ spender, model, workId, offers: requireOffers(model, offers) },
      ask: ({ rail, source }, heldRaw) => {
        const { agentId } = spender;
        return ask(rail, { agentId, heldRaw, body: sent, model: source.upstreamModel });
      },
      forLess(availableRaw) {
        const less = shrinkBound(bound, body, model, availableRaw);
        return less && orderWithin(less);
      },
    };
  };
  return orderWithin(boundChat(body, model));
}

async function deliverWhole(body: ChatRequest, bought: Bought<ChatCompletion>): Promise<Relayed> {
  const { outcome, source, served, upstreamMs } = bought;
  const settled = await bought.settle(meterChat(body, outcome, source));
  return relay(outcome, receiptHeaders({ ...served, ...settled }), upstreamMs);
}
