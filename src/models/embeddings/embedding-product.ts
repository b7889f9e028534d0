import { requireOffers } from '../catalogue/require-model.ts';
import { gatewayErrors } from '../errors.ts';
import type { EmbeddingList, EmbeddingRail } from '../providers/embedding-rail.ts';
import type { BuyDeps } from '../purchase/buy.ts';
import type { Product } from '../purchase/product.ts';
import { type StoreDelivered, storeBeforeCharge } from '../purchase/store-before-charge.ts';
import { type Offers, planOffers } from '../routing/plan-offers.ts';
import type { EmbeddingRequest } from './embedding-request.ts';
import { boundTokens, embeddingPriceRaw, meterEmbeddings } from './embedding-usage.ts';

type EmbeddingBody = {
  readonly request: EmbeddingRequest;
  readonly keep: StoreDelivered<EmbeddingList> | undefined;
};

/** Creates the product of embeddings: bounded by the bytes of the texts, metered by tokens. */
export const embeddingProduct = ({
  keepsNames,
  rails,
}: Pick<BuyDeps<EmbeddingRail>, 'keepsNames' | 'rails'>): Product<
  EmbeddingBody,
  number,
  EmbeddingRail,
  EmbeddingList
> => ({
  modality: 'embedding',
  rails,
  quote({ body: { request } }, choice) {
    const { model } = choice;
    const tokens = boundTokens(request.input);
    const offers = planOffers(
      choice,
      (source) => embeddingPriceRaw(tokens, source),
      (source) => rails.railOf(source),
    );
    return { model, bound: tokens, offers: requireFit(requireOffers(model, offers), request) };
  },
  attempt({ body: { keep, request: body }, buyer, quote }, { rail, source }, paymentMethod) {
    const call = {
      agentId: buyer.spender.agentId,
      model: source.upstreamModel,
      body,
      paymentMethod,
      servedAs: keepsNames === true ? undefined : quote.model.id,
    };
    return storeBeforeCharge(rail.embed(call, buyer.signal), keep);
  },
  meter: ({ body: { request } }, { promptTokens }, source) =>
    meterEmbeddings(request.input, promptTokens, source),
});

/** Returns the offers that can serve the request. Throws the misfit of the cheapest offer when none can. */
function requireFit(offers: Offers<EmbeddingRail>, body: EmbeddingRequest): Offers<EmbeddingRail> {
  const [first, ...rest] = offers.filter(({ rail }) => rail.misfit(body) === undefined);
  if (first !== undefined) return [first, ...rest];
  const misfit = offers[0].rail.misfit(body);
  throw gatewayErrors.invalidRequest(misfit?.detail ?? '', misfit?.param);
}
