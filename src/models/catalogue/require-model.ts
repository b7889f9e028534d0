import type { ApiError } from '../../kernel/api-error.ts';
import { gatewayErrors } from '../errors.ts';
import type { Offer, Offers } from '../routing/plan-offers.ts';
import type { Catalogue, Modality, Model } from './catalogue.ts';

type Known = Pick<Catalogue, 'find' | 'suggest'>;

/** Returns lookups over the pool's models, and then over models that only a buyer's own provider key can pay. */
export const withKeyed = (catalogue: Known & Pick<Catalogue, 'findKeyed'>): Known => ({
  find: (id) => catalogue.find(id) ?? catalogue.findKeyed(id),
  suggest: (name) => catalogue.suggest(name),
});

/**
 * Returns the model of an id, or of a bare name that one maker alone uses. Throws the refusal of an unknown model, or of a
 * model with another modality than the route's.
 */
export function requireModel(catalogue: Known, id: string, modality: Modality): Model {
  const model = catalogue.find(id);
  if (model === undefined) throw gatewayErrors.modelNotFound(id, catalogue.suggest(id));
  if (model.modality !== modality) {
    const message = `"${id}" is a model of modality ${model.modality}; this route takes ${modality} models.`;
    throw gatewayErrors.invalidRequest(message, 'model');
  }
  return model;
}

/** Returns the offers as a list with at least one. Throws the refusal when the list is empty. */
export function requireOffers<R>(model: Model, offers: readonly Offer<R>[]): Offers<R> {
  const [first, ...rest] = offers;
  if (first === undefined) throw refuseUnsold(model);
  return [first, ...rest];
}

export const refuseUnsold = ({ id }: Model): ApiError =>
  gatewayErrors.noSourceAvailable(`No source of "${id}" can serve this here.`);
