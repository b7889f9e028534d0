import type { Catalogue } from '../catalogue/catalogue.ts';

/** Date at the end of the vendor's model names: `claude-haiku-4-5-20251001`. */
const DATED = /-20\d{6}$/;

/** Returns the name under which the catalogue has a model. Clients of the dialect append the date of a version to the name. */
export function knownName(catalogue: Pick<Catalogue, 'find' | 'findKeyed'>, name: string): string {
  const isKnown = (id: string) =>
    catalogue.find(id) !== undefined || catalogue.findKeyed(id) !== undefined;
  const undated = name.replace(DATED, '');
  return undated !== name && !isKnown(name) && isKnown(undated) ? undated : name;
}
