import type { Catalogue, Modality } from '../catalogue/catalogue.ts';
import { requireModel } from '../catalogue/require-model.ts';
import type { Rails } from '../routing/open-rails.ts';
import {
  findOwnSellers,
  pooledSellers,
  type Sellers,
  type StoredKeys,
} from '../routing/sellers.ts';
import type { Buyer } from './buyer.ts';
import type { Order } from './order.ts';
import { type OpenPurchase, type PurchaseDeps, purchase, type Relayed } from './purchase.ts';

export type BuyDeps<R> = PurchaseDeps & {
  readonly catalogue: Catalogue;
  readonly providerKeys: StoredKeys;
  readonly rails: Pick<Rails<R>, 'railOf'>;
  /** Answers name the model as the upstream does, and not as the catalogue does. */
  readonly keepsNames?: boolean;
};

/** What a request asks a model of some modality for. */
export type PurchaseRequest<R, T> = {
  readonly modelId: string;
  readonly modality: Modality;
  /** The same request, put to these. Throws the refusal where none of them can serve it. */
  readonly orderOf: (sellers: Sellers) => Order<R, T> | Promise<Order<R, T>>;
};

/**
 * Buys with the buyer's own key where it has one for the model, and from the pool where it has none or where no provider
 * answers to it. Work under an Idempotency-Key has one hold, which the fee of the own key has taken: it does not
 * change over to the pool.
 */
export async function buy<R, T, A>(
  deps: BuyDeps<R>,
  buyer: Buyer,
  { modality, modelId, orderOf }: PurchaseRequest<R, T>,
  deliver: (bought: OpenPurchase<T>) => Promise<A>,
): Promise<A | Relayed> {
  const pooled = async (): Promise<Order<R, T>> => {
    const model = requireModel(deps.catalogue, modelId, modality);
    await buyer.admitPooled();
    return orderOf(pooledSellers(model));
  };
  const own = await findOwnSellers(deps, modelId, buyer);
  const canServe = own?.sellers.some(({ source }) => deps.rails.railOf(source) !== undefined);
  if (own === undefined || own.model.modality !== modality || canServe !== true) {
    return purchase(deps, await pooled(), deliver);
  }
  const isSoldHere = buyer.workId === undefined && deps.catalogue.find(modelId) !== undefined;
  const order = notingUse(deps.providerKeys, buyer, await orderOf(own));
  return purchase(deps, { ...order, ...(isSoldHere && { instead: pooled }) }, deliver);
}

/** A stored key counts as used when a call goes out with it. */
function notingUse<R, T>(
  keys: StoredKeys,
  { accountId, providerKey }: Buyer,
  order: Order<R, T>,
): Order<R, T> {
  if (providerKey !== undefined) return order;
  return {
    ...order,
    async ask(offer, heldRaw, paymentMethod) {
      await keys.noteUse(accountId, offer.source.provider);
      return order.ask(offer, heldRaw, paymentMethod);
    },
  };
}
