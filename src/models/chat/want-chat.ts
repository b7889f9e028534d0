import { requireOffers } from '../catalogue/require-model.ts';
import type { ChatCall, ChatCompletion } from '../providers/chat-rail.ts';
import type { Outcome } from '../providers/outcome.ts';
import type { Buyer } from '../purchase/buyer.ts';
import type { Order, Wanted } from '../purchase/order.ts';
import type { AnswerCap } from '../purchase/receipt.ts';
import type { Rails } from '../routing/open-rails.ts';
import { planOffers } from '../routing/plan-offers.ts';
import { arePaidByBuyer, type Seller, type Sellers } from '../routing/sellers.ts';
import { boundChat, type ChatBound, leastBound, shrinkBound, withCap } from './bound-chat.ts';
import type { ChatRequest } from './chat-request.ts';
import { chatPriceRaw, meterChat } from './chat-usage.ts';

/** A chat, however its caller and its rails spell it: it is bounded, priced and metered by `body`. */
export type ChatQuestion<R, T> = {
  readonly body: ChatRequest;
  readonly rails: Pick<Rails<R>, 'railOf'>;
  /** Asks one rail; the body of the call has the cap of its answer. */
  readonly ask: (rail: R, call: ChatCall) => Promise<Outcome<T>>;
  /** What of an answer was used by now. */
  readonly reported: (answer: T) => Pick<ChatCompletion, 'usage' | 'answerChars'>;
  /** Throws the refusal of what costs more than its tokens at the rates of the catalogue. */
  readonly requirePriced: () => void;
  /** Answers name the model as the upstream does, and not as the catalogue does. */
  readonly keepsNames?: boolean | undefined;
};

/** A chat as something that can be bought. */
export function wantChat<R, T>(
  question: ChatQuestion<R, T>,
  { spender }: Pick<Buyer, 'spender'>,
): Wanted<R, T> {
  const { body, keepsNames, rails } = question;
  const orderWithin = (sellers: Sellers, bound: ChatBound): Order<R, T> => {
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
      ask: ({ rail, source }, heldRaw, paymentMethod) =>
        question.ask(rail, {
          agentId: spender.agentId,
          heldRaw,
          paymentMethod,
          body: sent,
          model: source.upstreamModel,
          servedAs: keepsNames === true ? undefined : model.id,
        }),
      meter: (answer, source) =>
        meterChat(body, question.reported(answer), source, isTheirs ? undefined : bound.tokens),
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
      if (!arePaidByBuyer(sellers)) question.requirePriced();
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
