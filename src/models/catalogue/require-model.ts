import type { ApiError } from '../../kernel/api-error.ts';
import { errors } from '../../kernel/errors.ts';
import type { Offer, Offers } from '../routing/plan-offers.ts';
import type { Catalogue, Modality, Model } from './catalogue.ts';

type Known = Pick<Catalogue, 'find' | 'suggest'>;

/** The models of a catalogue, and those that a buyer's own keys may open where the pool does not sell them. */
export const withKeyed = (catalogue: Known & Pick<Catalogue, 'findKeyed'>): Known => ({
  find: (id) => catalogue.find(id) ?? catalogue.findKeyed(id),
  suggest: (name) => catalogue.suggest(name),
});

/** The model of an exact id that a route can serve. Throws the refusal. */
export function requireModel(catalogue: Known, id: string, modality: Modality): Model {
  const model = catalogue.find(id);
  if (model === undefined) throw errors.gateway.modelNotFound(id, catalogue.suggest(id));
  if (model.modality !== modality) {
    const message = `"${id}" is a model of modality ${model.modality}; this route takes ${modality} models.`;
    throw errors.gateway.invalidRequest(message, 'model');
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
  errors.gateway.noSourceAvailable(`No source of "${id}" can serve this here.`);
