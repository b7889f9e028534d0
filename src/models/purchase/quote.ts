import type { Catalogue } from '../catalogue/catalogue.ts';
import { requireModel } from '../catalogue/require-model.ts';
import { isPassedOver, type Undelivered } from '../routing/attempt-offers.ts';
import { findOwnSources, pooledSources, type StoredKeys } from '../routing/keyed-sources.ts';
import type { Rails } from '../routing/open-rails.ts';
import { preferredSources, requirePreferred } from '../routing/routing-preferences.ts';
import type { Buyer } from './buyer.ts';
import type { Order, PurchaseRequest } from './order.ts';

export type QuoteDeps<R> = {
  readonly catalogue: Catalogue;
  readonly providerKeys: Pick<StoredKeys, 'find'>;
  readonly rails: Pick<Rails<R>, 'railOf'>;
};

/** The previous order, and its failure. */
type Last<R, T> = { readonly order: Order<R, T>; readonly tried: Undelivered };

/**
 * Prices the request at the next sources: first the sources for the buyer's own keys, then the pool. Undefined when no source
 * is left. Throws the refusal when the model has none.
 */
export async function quote<R, T>(
  { catalogue, providerKeys, rails }: QuoteDeps<R>,
  buyer: Buyer,
  { modality, modelId, orderOf, wishes }: PurchaseRequest<R, T>,
  last: Last<R, T> | undefined,
): Promise<Order<R, T> | undefined> {
  if (last === undefined) {
    const found = await findOwnSources({ catalogue, providerKeys }, modelId, buyer);
    const own = found && preferredSources(found, wishes);
    const canServe = own?.sellers.some(({ source }) => rails.railOf(source) !== undefined);
    if (own?.model.modality === modality && canServe === true) return orderOf(own);
  } else {
    if (!isPassedOver(last.tried.outcome, last.tried.source)) return undefined;
    if (last.order.rest !== undefined) return last.order.rest;
    // Work under an Idempotency-Key has one hold, which the fee of the own key has used: no second hold for the pool.
    const mayChangeOver = last.tried.source.rail === 'byok' && buyer.workId === undefined;
    if (!mayChangeOver || catalogue.find(modelId) === undefined) return undefined;
  }
  const model = requireModel(catalogue, modelId, modality);
  await buyer.admitPooled();
  return orderOf(requirePreferred(pooledSources(model), wishes));
}
