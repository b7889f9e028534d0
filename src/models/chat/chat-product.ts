import { copyDigits } from '../../kernel/json/digits.ts';
import type { StopSignal } from '../../kernel/stop-signal.ts';
import type { Room } from '../../ledger/rules/hold-what-fits.ts';
import type { Source } from '../catalogue/catalogue.ts';
import { requireOffers } from '../catalogue/require-model.ts';
import type { ChatCall, ChatRail, Reported } from '../providers/chat-rail.ts';
import type { Outcome } from '../providers/outcome.ts';
import type { BuyDeps } from '../purchase/buy.ts';
import type { HeldRequest, Product, Quote } from '../purchase/product.ts';
import { arePaidByBuyer, type KeyedSource, type ModelSources } from '../routing/keyed-sources.ts';
import { planOffers } from '../routing/plan-offers.ts';
import { requireCheap } from '../routing/routing-preferences.ts';
import { boundChat, type ChatBound, leastBound, shrinkBound } from './bound-chat.ts';
import { chatPriceRaw, chatRates, meterChat } from './chat-price.ts';
import type { ChatRequest } from './chat-request.ts';
import type { PromptBeginnings } from './prompt-beginnings.ts';
import { type PromptCachePlan, planPromptCaching } from './prompt-caching.ts';
import type { PromptHolders } from './prompt-holders.ts';

/** Body of a purchase in a dialect of chat. */
export type MeasuredBody = {
  /** Request from which the prompt and the answer's cap are measured and priced. */
  readonly measured: ChatRequest;
  readonly beginnings: PromptBeginnings;
  /** Smallest useful cap of the answer, in tokens. Undefined: `MODEL_LIMITS.tokens.leastOutput`. */
  readonly leastOutputTokens?: number | undefined;
};

/** The parts of a chat's purchase that depend on the caller's dialect. */
export type ChatDialect<Q extends MeasuredBody, R = ChatRail, T = unknown> = {
  /** Returns true when an upstream caches only the marked part of a prompt. */
  needsMarks(rail: R): boolean;
  /** Throws the refusal of a request that would cost more than its tokens at the catalogue's rates. */
  requirePriced(body: Q): void;
  /**
   * Sends the chat to one rail. `outputCap` is undefined when the caller pays the provider directly, because then only the
   * caller bounds the answer.
   */
  send(
    rail: R,
    body: Q,
    options: ChatCallOptions & { readonly outputCap: number | undefined },
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

/** Builds the call of a rail from its options, the request body and the name of the model in the answer. */
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

/** Upper bound of a chat at the sources that may serve it. */
type ChatTerms = {
  readonly choice: ModelSources;
  readonly bound: ChatBound;
  readonly caching: PromptCachePlan;
};

/** Creates the product of chats in one dialect: bounded by tokens, capped when the money is short, metered by tokens. */
export function chatProduct<Q extends MeasuredBody, R, T>(
  { keepsNames, promptHolders, rails }: Pick<ChatDeps<R>, 'keepsNames' | 'promptHolders' | 'rails'>,
  dialect: ChatDialect<Q, R, T>,
): Product<Q, ChatTerms, R, T> {
  const railOf = (source: Source) => rails.railOf(source);
  const needsMarks = (source: Source): boolean => {
    const rail = railOf(source);
    return rail !== undefined && dialect.needsMarks(rail);
  };

  function quoteWithin(terms: ChatTerms): Quote<ChatTerms, R> {
    const { bound, caching, choice } = terms;
    const { model } = choice;
    const { outputCap, reason, tokens } = bound;
    const offers = planOffers(choice, (source) => chatPriceRaw(tokens, source), railOf);
    const isCapped = reason !== undefined && !arePaidByBuyer(choice);
    return {
      model,
      bound: terms,
      offers: caching.preferHolder(requireOffers(model, offers)),
      answerCap: isCapped ? { tokens: outputCap, reason } : undefined,
    };
  }

  /** Returns the sources of a quote that this server can use, cheapest first. */
  const byPrice = ({ sources }: ModelSources, { tokens }: ChatBound): KeyedSource[] =>
    sources
      .filter(({ source }) => railOf(source) !== undefined)
      .map((keyed) => ({ keyed, raw: chatPriceRaw(tokens, keyed.source) }))
      .sort((a, b) => (a.raw < b.raw ? -1 : a.raw > b.raw ? 1 : 0))
      .map(({ keyed }) => keyed);

  return {
    modality: 'text',
    rails,
    quote({ body, preferences }, choice, buyer) {
      const { beginnings, measured } = body;
      if (!arePaidByBuyer(choice)) dialect.requirePriced(body);
      const caching = planPromptCaching(promptHolders, choice, buyer, beginnings, needsMarks);
      const bound = boundChat(measured, choice.model, caching.markedFrom);
      const ratesAt = (source: Source) => chatRates(bound.tokens, source);
      return quoteWithin({ choice: requireCheap(choice, preferences, ratesAt), bound, caching });
    },
    lessen({ leastOutputTokens, measured }, { bound: terms }, room: Room) {
      const { bound, choice } = terms;
      for (let kept = byPrice(choice, bound); kept.length > 0; kept = kept.slice(0, -1)) {
        const payable = kept.map(({ source }) => source);
        const less = shrinkBound(bound, measured, payable, room, leastOutputTokens);
        if (less === undefined) continue;
        return quoteWithin({ ...terms, choice: { ...choice, sources: kept }, bound: less });
      }
      return undefined;
    },
    least({ leastOutputTokens, measured }, { bound: terms }) {
      const { choice } = terms;
      const bound = leastBound(terms.bound, measured, leastOutputTokens);
      const [cheapest] = byPrice(choice, bound);
      const kept = cheapest ? { ...choice, sources: [cheapest] } : choice;
      return quoteWithin({ ...terms, choice: kept, bound });
    },
    attempt({ body, buyer, held, quote }, { rail, source }, paymentMethod) {
      const { bound, caching, choice } = quote.bound;
      const options = {
        agentId: buyer.spender.agentId,
        heldRaw: held.hold.amountRaw,
        paymentMethod,
        model: source.upstreamModel,
        servedAs: keepsNames === true ? undefined : quote.model.id,
        breakpoints: caching.breakpointsAt(source),
        thinkingSwitch: source.thinkingSwitch,
        efforts: source.efforts,
        sampling: source.sampling,
        outputCap: arePaidByBuyer(choice) ? undefined : bound.outputCap,
      };
      return dialect.send(rail, body, options, buyer.signal);
    },
    meter({ body, quote }: HeldRequest<Q, ChatTerms, R>, answer, source) {
      const { bound, choice } = quote.bound;
      const most = arePaidByBuyer(choice) ? undefined : bound.tokens;
      return meterChat(body.measured, dialect.reported(answer), source, most);
    },
    note({ quote }, answer, source) {
      quote.bound.caching.note(dialect.reported(answer).usage, source);
    },
  };
}
