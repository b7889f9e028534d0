import type { Clock } from '../kernel/clock.ts';
import { movedBaseUrl } from '../models/providers/vendors/vendor-address.ts';
import type { Vendor, VendorAccount } from './vendor.ts';

/** Address and credentials of this server's account at a vendor. */
export type OpenAccount = {
  readonly baseUrl: string;
  readonly opens: (
    request: Parameters<VendorAccount['opens']>[0],
    clock: Clock,
  ) => Readonly<Record<string, string>>;
  /** Credentials, which are never shown to a caller. */
  readonly credentials: readonly string[];
};

/**
 * Returns the accounts whose configuration is complete, by the names of their vendors. Throws ConfigError when an address is
 * not valid.
 */
export function openAccounts(
  vendors: readonly Vendor[],
  secret: (name: string) => string | undefined,
): ReadonlyMap<string, OpenAccount> {
  const open = new Map<string, OpenAccount>();
  for (const { account, name } of vendors) {
    if (account === undefined) continue;
    const baseUrl = movedBaseUrl(name, secret) ?? account.baseUrl;
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
