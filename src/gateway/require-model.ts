import type { ApiError } from '../kernel/api-error.ts';
import { refuse } from '../kernel/refuse.ts';
import type { Catalogue, Modality, Model } from './catalogue.ts';
import type { Offer, Offers } from './plan-offers.ts';

/** The model of an exact id that a route can serve. Throws the refusal. */
export function requireModel(catalogue: Catalogue, id: string, modality: Modality): Model {
  const model = catalogue.find(id);
  if (model === undefined) throw refuse.gateway.modelNotFound(id, catalogue.suggest(id));
  if (model.modality !== modality) {
    const message = `"${id}" is a model of modality ${model.modality}; this route takes ${modality} models.`;
    throw refuse.gateway.invalidRequest(message, 'model');
  }
  return model;
}

/** The same offers, of which there is one at least. Throws the refusal. */
export function requireOffers<R>(model: Model, offers: readonly Offer<R>[]): Offers<R> {
  const [first, ...rest] = offers;
  if (first === undefined) throw refuseUnsold(model);
  return [first, ...rest];
}

export const refuseUnsold = ({ id }: Model): ApiError =>
  refuse.gateway.noSourceAvailable(`No source of "${id}" can serve this here.`);
