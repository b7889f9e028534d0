import { ConfigError } from '../config/config.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Account, Vendor } from './vendor.ts';

/** An account of this server with a vendor. */
export type OpenAccount = {
  readonly baseUrl: string;
  readonly opens: (
    request: Parameters<Account['opens']>[0],
    clock: Clock,
  ) => Readonly<Record<string, string>>;
  /** Never to be shown to a caller. */
  readonly credentials: readonly string[];
};

/** The variable that moves a vendor elsewhere: to another region, or to a peer in a test. */
export const baseUrlVariable = (vendor: string): string =>
  `VENDOR_${vendor.toUpperCase()}_BASE_URL`;

/** The accounts that are configured whole, by the names of their vendors. Throws ConfigError for an address that is none. */
export function openAccounts(
  vendors: readonly Vendor[],
  secret: (name: string) => string | undefined,
): ReadonlyMap<string, OpenAccount> {
  const open = new Map<string, OpenAccount>();
  for (const { account, name } of vendors) {
    if (account === undefined) continue;
    const variable = baseUrlVariable(name);
    const baseUrl = secret(variable) ?? account.baseUrl;
    if (baseUrl !== null && !isAddress(baseUrl)) {
      throw new ConfigError(`Invalid ${variable}: must be an http or https URL without a query`);
    }
    const credentials = account.variables.map(secret);
    if (baseUrl === null || !credentials.every(isSet)) continue;
    open.set(name, {
      baseUrl,
      credentials,
      opens: (request, clock) => account.opens(request, credentials, clock),
    });
  }
  return open;
}

const isSet = (value: string | undefined): value is string => value !== undefined;

function isAddress(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, search, hash } = new URL(text);
  return /^https?:$/.test(protocol) && search === '' && hash === '';
}
