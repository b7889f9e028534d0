import { BRAND } from '../../kernel/ids.ts';
import { providerKeyErrors } from '../errors.ts';
import { isProviderKey, PROVIDER_KEY_RULE } from './provider-key.ts';

/** Header with the caller's own provider key for one call. The key is sent to that provider only. */
export const PROVIDER_KEY_HEADER = `${BRAND.headerPrefix}provider-key`;

/** Returns the provider key in the headers of a request. Undefined without the header. Throws when the key is malformed. */
export function readProviderKey(headers: ReadonlyMap<string, string>): string | undefined {
  const key = headers.get(PROVIDER_KEY_HEADER)?.trim();
  if (key === undefined || isProviderKey(key)) return key;
  throw providerKeyErrors.invalidHeader(PROVIDER_KEY_HEADER, PROVIDER_KEY_RULE);
}
