import { ConfigError } from '../../../config/config-error.ts';

/** Returns the name of the variable that sets another address of a vendor: another region, or a peer in a test. */
export const baseUrlVariable = (vendor: string): string =>
  `VENDOR_${vendor.toUpperCase()}_BASE_URL`;

/**
 * Reads the address that a variable sets for a vendor. Undefined when the variable is unset. Throws ConfigError for an invalid
 * address.
 */
export function movedBaseUrl(
  vendor: string,
  secret: (name: string) => string | undefined,
): string | undefined {
  const variable = baseUrlVariable(vendor);
  const baseUrl = secret(variable);
  if (baseUrl !== undefined && !isAddress(baseUrl)) {
    throw new ConfigError(`Invalid ${variable}: must be an http or https URL without a query`);
  }
  return baseUrl;
}

function isAddress(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, search, hash } = new URL(text);
  return /^https?:$/.test(protocol) && search === '' && hash === '';
}
