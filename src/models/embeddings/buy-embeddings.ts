import type { EmbeddingList, EmbeddingRail } from '../providers/embedding-rail.ts';
import { answerWhole, type Relayed } from '../purchase/answer.ts';
import { type BuyDeps, buy } from '../purchase/buy.ts';
import type { Buyer } from '../purchase/buyer.ts';
import { priceInBody } from '../purchase/price-in-usage.ts';
import type { StoreDelivered } from '../purchase/store-before-charge.ts';
import { embeddingProduct } from './embedding-product.ts';
import type { EmbeddingRequest } from './embedding-request.ts';

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
  const product = embeddingProduct(deps);
  return {
    async embed({ body: request, buyer, keep, tellsCost }) {
      const body = { request, keep };
      const bought = await buy(deps, product, buyer, { model: request.model, body });
      if (bought.kind === 'not_delivered') return bought.answer;
      return answerWhole(bought, bought.outcome, tellsCost === true ? priceInBody : undefined);
    },
  };
}
