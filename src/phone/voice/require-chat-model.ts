import type { Catalogue } from '../../models/catalogue/catalogue.ts';
import { phoneErrors } from '../errors.ts';

/**
 * Returns the id of a chat model that this server sells, or that the caller's own provider keys may open. Throws
 * `invalid_model`.
 */
export function requireChatModel(
  catalogue: Pick<Catalogue, 'find' | 'findKeyed' | 'suggest'>,
  name: string,
): string {
  const model = catalogue.find(name) ?? catalogue.findKeyed(name);
  if (model?.modality === 'text') return model.id;
  throw phoneErrors.invalidModel(name, catalogue.suggest(name));
}
