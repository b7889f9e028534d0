import { errors } from '../../kernel/errors.ts';
import { requireOffers } from '../catalogue/require-model.ts';
import type { EmbeddingList, EmbeddingRail } from '../providers/embedding-rail.ts';
import { type BuyDeps, buy, type PurchaseRequest } from '../purchase/buy.ts';
import type { Buyer } from '../purchase/buyer.ts';
import { deliverWhole } from '../purchase/deliver-whole.ts';
import type { Relayed } from '../purchase/purchase.ts';
import { type Offers, planOffers } from '../routing/plan-offers.ts';
import type { EmbeddingRequest } from './embedding-request.ts';
import { boundTokens, embeddingPriceRaw, meterEmbeddings } from './embedding-usage.ts';

export interface Embeddings {
  /** Throws the gateway's refusals. Nothing was charged then, but a payment that the refusal names. */
  embed(purchase: { readonly buyer: Buyer; readonly body: EmbeddingRequest }): Promise<Relayed>;
}

/** Buys vectors of texts: holds a token for each of their bytes, settles to the tokens that were metered. */
export function createEmbeddings(deps: BuyDeps<EmbeddingRail>): Embeddings {
  return {
    embed({ body, buyer }) {
      return buy(deps, buyer, wantedOf(deps, body, buyer), (bought) => {
        const { outcome, source } = bought;
        return deliverWhole(bought, meterEmbeddings(body.input, outcome.promptTokens, source));
      });
    },
  };
}

function wantedOf(
  { keepsNames, rails }: BuyDeps<EmbeddingRail>,
  body: EmbeddingRequest,
  { spender, workId, signal }: Buyer,
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
        spender,
        model,
        workId,
        offers: requireFit(requireOffers(model, offers), body),
        ask: ({ rail, source }, _heldRaw, paymentMethod) =>
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
      };
    },
  };
}

/** The offers that can serve this very request. Throws why the cheapest can't where none can. */
function requireFit(offers: Offers<EmbeddingRail>, body: EmbeddingRequest): Offers<EmbeddingRail> {
  const [first, ...rest] = offers.filter(({ rail }) => rail.misfit(body) === undefined);
  if (first !== undefined) return [first, ...rest];
  const misfit = offers[0].rail.misfit(body);
  throw errors.gateway.invalidRequest(misfit?.detail ?? '', misfit?.param);
}
