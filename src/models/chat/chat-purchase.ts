import { copyDigits } from '../../kernel/json/digits.ts';
import type { StopSignal } from '../../kernel/stop-signal.ts';
import type { Source } from '../catalogue/catalogue.ts';
import { requireOffers } from '../catalogue/require-model.ts';
import type {
  ChatCall,
  ChatCompletion,
  ChatRail,
  ChatStream,
  Reported,
} from '../providers/chat-rail.ts';
import type { Outcome } from '../providers/outcome.ts';
import type { BuyDeps } from '../purchase/buy.ts';
import type { Buyer } from '../purchase/buyer.ts';
import type { Order, PurchaseRequest } from '../purchase/order.ts';
import type { AnswerCap } from '../purchase/receipt.ts';
import { arePaidByBuyer, type KeyedSource, type ModelSources } from '../routing/keyed-sources.ts';
import { planOffers } from '../routing/plan-offers.ts';
import { type RoutingPreferences, requireCheap } from '../routing/routing-preferences.ts';
import { boundChat, type ChatBound, leastBound, shrinkBound } from './bound-chat.ts';
import type { ChatRequest } from './chat-request.ts';
import { chatPriceRaw, chatRates, meterChat } from './chat-usage.ts';
import { PromptBeginnings } from './prompt-beginnings.ts';
import { type PromptCachePlan, planPromptCaching } from './prompt-caching.ts';
import type { PromptHolders } from './prompt-holders.ts';

export type ChatAnswer = ChatCompletion | { readonly stream: ChatStream };

/** Returns the usage of an answer so far. */
export const reportedOf = (answer: ChatAnswer): Reported =>
  'stream' in answer ? answer.stream.metered() : answer;

/** A chat in the dialect of its caller, and the functions that put it to rails. */
export type DialectChat<R = ChatRail, T = ChatAnswer> = {
  /** Request from which the prompt and the answer's cap are measured and priced. */
  readonly measured: ChatRequest;
  /** Smallest useful cap of the answer, in tokens. Undefined: a few tokens. */
  readonly leastOutputTokens?: number | undefined;
  /** Returns true when an upstream caches only the marked part of a prompt. */
  needsMarks(rail: R): boolean;
  /** Throws the refusal of a request that would cost more than its tokens at the catalogue's rates. */
  requirePriced(): void;
  /**
   * Sends the chat to one rail. `outputCap` is undefined when the caller pays the provider directly, because then only the
   * caller bounds the answer.
   */
  ask(
    rail: R,
    call: ChatCallOptions,
    outputCap: number | undefined,
    signal: StopSignal,
  ): Promise<Outcome<T>>;
  /** Usage of an answer up to now. */
  reported(answer: T): Reported;
};

/** Returns the request with another model name. */
export const withModel = <Q extends { readonly model: string }>(request: Q, model: string): Q =>
  request.model === model ? request : copyDigits(request, { ...request, model });

/** A call without its body and before any spending from its hold. */
export type ChatCallOptions = Omit<ChatCall, 'body' | 'spentRaw'> & Pick<Source, 'thinkingSwitch'>;

/** Builds the call of a rail from the order, the request body and the name of the model in the answer. */
export const chatCall = (
  { agentId, breakpoints, efforts, heldRaw, model, paymentMethod, sampling }: ChatCallOptions,
  { body, servedAs }: Pick<ChatCall, 'body' | 'servedAs'>,
): ChatCall => ({
  agentId,
  heldRaw,
  model,
  servedAs,
  paymentMethod,
  breakpoints,
  efforts,
  sampling,
  body,
});

/** Dependencies of a chat's purchase, in any dialect. */
export type ChatDeps<R> = BuyDeps<R> & { readonly promptHolders: PromptHolders };

type ChatPurchaseDeps<R> = Pick<ChatDeps<R>, 'keepsNames' | 'promptHolders' | 'rails'>;

type ChatBuyer = Pick<Buyer, 'accountId' | 'promptCaching' | 'signal' | 'spender'>;

/** Describes the purchase of a chat: holds at most its bound, caps the answer when the money is short, meters by tokens. */
function chatPurchase<R, T>(
  { keepsNames, promptHolders, rails }: ChatPurchaseDeps<R>,
  question: DialectChat<R, T>,
  beginnings: PromptBeginnings,
  buyer: ChatBuyer,
  { instead, wishes }: Pick<PurchaseRequest<R, T>, 'instead' | 'wishes'>,
): PurchaseRequest<R, T> {
  const { leastOutputTokens: least, measured } = question;
  const { signal, spender } = buyer;
  const needsMarks = (source: Source) => {
    const rail = rails.railOf(source);
    return rail !== undefined && question.needsMarks(rail);
  };
  const orderWithin = (
    sellers: ModelSources,
    bound: ChatBound,
    caching: PromptCachePlan,
  ): Order<R, T> => {
    const { model } = sellers;
    const offers = planOffers(
      sellers,
      (source) => chatPriceRaw(bound.tokens, source),
      (source) => rails.railOf(source),
    );
    const served = sellers.sellers.filter(({ source }) => rails.railOf(source) !== undefined);
    const isTheirs = arePaidByBuyer(sellers);
    return {
      model,
      offers: caching.preferHolder(requireOffers(model, offers)),
      ask({ rail, source }, heldRaw, paymentMethod) {
        const call = {
          agentId: spender.agentId,
          heldRaw,
          paymentMethod,
          model: source.upstreamModel,
          servedAs: keepsNames === true ? undefined : model.id,
          breakpoints: caching.breakpointsAt(source),
          thinkingSwitch: source.thinkingSwitch,
          efforts: source.efforts,
          sampling: source.sampling,
        };
        return question.ask(rail, call, isTheirs ? undefined : bound.outputCap, signal);
      },
      meter: (answer, source) => {
        const most = isTheirs ? undefined : bound.tokens;
        return meterChat(measured, question.reported(answer), source, most);
      },
      note: (answer, source) => caching.note(question.reported(answer).usage, source),
      forLess(room) {
        for (let kept = byPrice(served, bound); kept.length > 0; kept = kept.slice(0, -1)) {
          const sources = kept.map(({ source }) => source);
          const less = shrinkBound(bound, measured, sources, room, least);
          if (less !== undefined) return orderWithin({ ...sellers, sellers: kept }, less, caching);
        }
        return undefined;
      },
      atLeast() {
        const smallest = leastBound(bound, measured, least);
        const [cheapest] = byPrice(served, smallest);
        const kept = cheapest ? { ...sellers, sellers: [cheapest] } : sellers;
        return orderWithin(kept, smallest, caching);
      },
      answerCap: isTheirs ? undefined : capOf(bound),
    };
  };
  return {
    modelId: measured.model,
    modality: 'text',
    wishes,
    instead,
    orderOf(sellers) {
      if (!arePaidByBuyer(sellers)) question.requirePriced();
      const caching = planPromptCaching(promptHolders, sellers, buyer, beginnings, needsMarks);
      const bound = boundChat(measured, sellers.model, caching.markedFrom);
      const ratesAt = (source: Source) => chatRates(bound.tokens, source);
      return orderWithin(requireCheap(sellers, wishes, ratesAt), bound, caching);
    },
  };
}

/**
 * Returns the requests for a chat with each model of the buyer's preference, one after another; with `model` alone when the
 * buyer has no preference.
 */
export function chatPurchases<R, T>(
  deps: ChatPurchaseDeps<R>,
  ofModel: (model: string) => DialectChat<R, T>,
  buyer: ChatBuyer,
  {
    model: first,
    wishes,
  }: { readonly model: string; readonly wishes: RoutingPreferences | undefined },
): PurchaseRequest<R, T> {
  const others = new Set(wishes?.models);
  others.delete(first);
  const question = ofModel(first);
  const beginnings = new PromptBeginnings(question.measured);
  const want = (asked: DialectChat<R, T>, instead: PurchaseRequest<R, T> | undefined) =>
    chatPurchase(deps, asked, beginnings, buyer, { instead, wishes });
  let instead: PurchaseRequest<R, T> | undefined;
  for (const model of [...others].reverse()) instead = want(ofModel(model), instead);
  return want(question, instead);
}

/** Sorts sources by the price of a request, cheapest first. */
const byPrice = (sellers: readonly KeyedSource[], { tokens }: ChatBound): KeyedSource[] =>
  sellers
    .map((seller) => ({ seller, raw: chatPriceRaw(tokens, seller.source) }))
    .sort((a, b) => (a.raw < b.raw ? -1 : a.raw > b.raw ? 1 : 0))
    .map(({ seller }) => seller);

const capOf = ({ outputCap: tokens, reason }: ChatBound): AnswerCap | undefined =>
  reason && { tokens, reason };
