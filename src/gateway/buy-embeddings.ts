import { refuse } from '../kernel/refuse.ts';
import type { Spender } from '../ledger/ledger.ts';
import type { EmbeddingList, EmbeddingRail } from '../rails/embedding-rail.ts';
import type { Catalogue } from './catalogue.ts';
import type { EmbeddingRails } from './embedding-rails.ts';
import type { EmbeddingRequest } from './embedding-request.ts';
import { boundTokens, embeddingPriceRaw, meterEmbeddings } from './embedding-usage.ts';
import { type Offers, planOffers } from './plan-offers.ts';
import { type Order, type PurchaseDeps, purchase, type Relayed, relay } from './purchase.ts';
import { receiptHeaders } from './receipt.ts';
import { requireModel, requireOffers } from './require-model.ts';

type EmbeddingPurchase = {
  readonly spender: Spender;
  readonly body: EmbeddingRequest;
  /** Becomes the id of the hold. */
  readonly workId?: string | undefined;
  /** Fires when the client leaves. */
  readonly signal: AbortSignal;
};

export interface Embeddings {
  /** Throws the gateway's refusals; whatever it throws, nothing was charged. */
  embed(purchase: EmbeddingPurchase): Promise<Relayed>;
}

export type EmbeddingsDeps = PurchaseDeps & {
  readonly catalogue: Catalogue;
  readonly rails: EmbeddingRails;
};

/** Buys vectors of texts: holds a token for each of their bytes, settles to the tokens that were metered. */
export function createEmbeddings(deps: EmbeddingsDeps): Embeddings {
  return {
    async embed(wish) {
      const { input } = wish.body;
      return purchase(deps, orderOf(deps, wish), async (bought) => {
        const { outcome, source, served, upstreamMs } = bought;
        const settled = await bought.settle(meterEmbeddings(input, outcome.promptTokens, source));
        return relay(outcome, receiptHeaders({ ...served, ...settled }), upstreamMs);
      });
    },
  };
}

function orderOf(
  { catalogue, rails }: EmbeddingsDeps,
  { spender, body, workId, signal }: EmbeddingPurchase,
): Order<EmbeddingRail, EmbeddingList> {
  const model = requireModel(catalogue, body.model, 'embedding');
  const tokens = boundTokens(body.input);
  const offers = planOffers(
    model,
    (source) => embeddingPriceRaw(tokens, source),
    (source) => rails.railOf(source),
  );
  return {
    ...{ spender, model, workId, offers: requireFit(requireOffers(model, offers), body) },
    ask: ({ rail, source }) => rail.embed({ model: source.upstreamModel, body }, signal),
  };
}

/** The offers that can serve this very request. Throws why the cheapest can't where none can. */
function requireFit(offers: Offers<EmbeddingRail>, body: EmbeddingRequest): Offers<EmbeddingRail> {
  const [first, ...rest] = offers.filter(({ rail }) => rail.misfit(body) === undefined);
  if (first !== undefined) return [first, ...rest];
  const misfit = offers[0].rail.misfit(body);
  throw refuse.gateway.invalidRequest(misfit?.detail ?? '', misfit?.param);
}
