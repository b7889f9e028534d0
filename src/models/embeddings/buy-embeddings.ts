import { requireOffers } from '../catalogue/require-model.ts';
import { gatewayErrors } from '../errors.ts';
import type { EmbeddingList, EmbeddingRail } from '../providers/embedding-rail.ts';
import { answerWhole, type Relayed } from '../purchase/answer.ts';
import { type BuyDeps, buy } from '../purchase/buy.ts';
import type { Buyer } from '../purchase/buyer.ts';
import type { PurchaseRequest } from '../purchase/order.ts';
import { priceInBody } from '../purchase/price-in-usage.ts';
import { type StoreDelivered, storeBeforeCharge } from '../purchase/store-before-charge.ts';
import { type Offers, planOffers } from '../routing/plan-offers.ts';
import type { EmbeddingRequest } from './embedding-request.ts';
import { boundTokens, embeddingPriceRaw, meterEmbeddings } from './embedding-usage.ts';

export interface Embeddings {
  /**
   * Returns the embeddings of texts. Throws the gateway's refusals; nothing was charged then, except a payment that the refusal
   * names.
   */
  embed(purchase: EmbeddingPurchase): Promise<Relayed>;
}

type EmbeddingPurchase = {
  readonly buyer: Buyer;
  readonly body: EmbeddingRequest;
  readonly keep?: StoreDelivered<EmbeddingList>;
  /** True when the `usage` of the answer also gets the price. */
  readonly tellsCost?: boolean;
};

/** Creates the purchase of embeddings: holds one token for each byte of the texts, and settles the metered tokens. */
export function createEmbeddings(deps: BuyDeps<EmbeddingRail>): Embeddings {
  return {
    async embed(purchase) {
      const bought = await buy(deps, purchase.buyer, wantedOf(deps, purchase));
      if (bought.kind === 'unsold') return bought.answer;
      const withPrice = purchase.tellsCost === true ? priceInBody : undefined;
      return answerWhole(bought, bought.outcome, withPrice);
    },
  };
}

function wantedOf(
  { keepsNames, rails }: Pick<BuyDeps<EmbeddingRail>, 'keepsNames' | 'rails'>,
  { body, buyer: { spender, signal }, keep }: EmbeddingPurchase,
): PurchaseRequest<EmbeddingRail, EmbeddingList> {
  return {
    modelId: body.model,
    modality: 'embedding',
    orderOf(sellers) {
      const { model } = sellers;
      const tokens = boundTokens(body.input);
      const offers = planOffers(
        sellers,
        (source) => embeddingPriceRaw(tokens, source),
        (source) => rails.railOf(source),
      );
      return {
        model,
        offers: requireFit(requireOffers(model, offers), body),
        ask: ({ rail, source }, _heldRaw, paymentMethod) =>
          storeBeforeCharge(
            rail.embed(
              {
                agentId: spender.agentId,
                model: source.upstreamModel,
                body,
                paymentMethod,
                servedAs: keepsNames === true ? undefined : model.id,
              },
              signal,
            ),
            keep,
          ),
        meter: ({ promptTokens }, source) => meterEmbeddings(body.input, promptTokens, source),
      };
    },
  };
}

/** Returns the offers that can serve the request. Throws the misfit of the cheapest offer when none can. */
function requireFit(offers: Offers<EmbeddingRail>, body: EmbeddingRequest): Offers<EmbeddingRail> {
  const [first, ...rest] = offers.filter(({ rail }) => rail.misfit(body) === undefined);
  if (first !== undefined) return [first, ...rest];
  const misfit = offers[0].rail.misfit(body);
  throw gatewayErrors.invalidRequest(misfit?.detail ?? '', misfit?.param);
}
