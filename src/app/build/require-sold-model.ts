import { ConfigError } from '../../config/config-error.ts';
import type { Catalogue, Modality } from '../../models/catalogue/catalogue.ts';

/** Most models that a refusal lists. */
const NAMED = 10;

/**
 * Returns the id of the model that the variable names. Throws ConfigError with the catalogue's models of this modality when the
 * name is unknown or of another modality.
 */
export function requireSoldModel(
  { find, models }: Pick<Catalogue, 'find' | 'models'>,
  variable: string,
  name: string,
  modality: Modality,
): string {
  const model = find(name);
  if (model?.modality === modality) return model.id;
  const sold = models.filter((known) => known.modality === modality).map(({ id }) => id);
  const more = sold.length > NAMED ? ` and ${sold.length - NAMED} more` : '';
  const what = `the catalogue sells no model of modality ${modality} under this name`;
  const known = sold.length > 0 ? `; it sells ${sold.slice(0, NAMED).join(', ')}${more}` : '';
  throw new ConfigError(`Invalid ${variable} "${name}": ${what}${known}`);
}
