import { errors } from '../../kernel/errors.ts';
import { BRAND } from '../../kernel/ids.ts';
import { isProviderKey, PROVIDER_KEY_RULE } from './provider-key.ts';

/** Carries the caller's own key for one call. It goes to the provider and nowhere else. */
export const PROVIDER_KEY_HEADER = `${BRAND.headerPrefix}provider-key`;

/** Returns the provider key in the headers of a request. Undefined without the header. Throws when the key is malformed. */
export function readProviderKey(headers: ReadonlyMap<string, string>): string | undefined {
  const key = headers.get(PROVIDER_KEY_HEADER)?.trim();
  if (key === undefined || isProviderKey(key)) return key;
  throw errors.gateway.invalidRequest(
    `${PROVIDER_KEY_HEADER} ${PROVIDER_KEY_RULE}.`,
    PROVIDER_KEY_HEADER,
  );
}
