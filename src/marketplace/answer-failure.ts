import { ApiError } from '../kernel/api-error.ts';
import type { Log } from '../kernel/log.ts';
import {
  VendorFailed,
  VendorGaveUp,
  type VendorResponse,
} from '../models/providers/vendors/vendor-api.ts';
import { proxyErrors } from '../payments/errors.ts';
import type { MarketAnswer } from '../payments/proxy/marketplace.ts';
import { X402_LIMITS } from '../x402/limits.ts';
import { marketplaceErrors, OwnRefusal } from './errors.ts';
import { MARKETPLACE_LIMITS } from './limits.ts';
import type { OpenAccount } from './open-accounts.ts';
import { VendorRefused } from './vendor.ts';

/** Statuses that are about our account, so that their text is not relayed. */
const ABOUT_ACCOUNT = new Set([401, 402, 403, 407]);

/**
 * Makes the answer for a vendor that has not delivered: the vendor's own status and text for its refusals and failures,
 * and 422 for a file that it gave up. Throws when there is no such text, and for every error that is not the vendor's.
 */
export function refuseVendor(
  { accounts, log }: { readonly accounts: ReadonlyMap<string, OpenAccount>; readonly log: Log },
  vendor: string,
  error: unknown,
): MarketAnswer & { readonly advisory: undefined } {
  const credentials = accounts.get(vendor)?.credentials ?? [];
  if (error instanceof VendorRefused) {
    const { status } = error.answer;
    if (ABOUT_ACCOUNT.has(status) || status < 400) {
      log.error(
        { vendor, status },
        'a vendor of the marketplace refused the account of this server',
      );
      throw new OwnRefusal(
        marketplaceErrors.vendorUnavailable(`${vendor} does not serve this server now.`),
      );
    }
    log.warn({ vendor, status }, 'a vendor of the marketplace refused');
    return relayed(error.answer, credentials);
  }
  if (error instanceof VendorGaveUp) {
    log.warn({ vendor, err: error }, 'a vendor of the marketplace gave a file up');
    return relayed(refusalOf(error, credentials), credentials);
  }
  if (error instanceof VendorFailed) {
    log.warn({ vendor, err: error }, 'a vendor of the marketplace failed');
    throw proxyErrors.unreachable(`${vendor} ${error.message}; nothing was charged.`);
  }
  throw error instanceof ApiError && isOfLocalEngine(error) ? new OwnRefusal(error) : error;
}

/** Returns true for the 400 of a local engine, which checks the request only when it is called. */
const isOfLocalEngine = ({ status }: ApiError): boolean => status === 400;

/** Returns the refusal of a file that a vendor gave up, with the vendor's reason. */
const refusalOf = ({ message }: VendorGaveUp, credentials: readonly string[]): VendorResponse => {
  const reason = withoutKeys(Buffer.from(message), credentials, X402_LIMITS.reasonChars);
  const error = { message: reason.toString(), type: 'invalid_request_error' };
  return { status: 422, headers: {}, body: Buffer.from(JSON.stringify({ error })) };
};

function relayed(
  { body, headers, status }: VendorResponse,
  credentials: readonly string[],
): MarketAnswer & { readonly advisory: undefined } {
  const wait = headers['retry-after'];
  const type = String(headers['content-type'] ?? 'application/json');
  return {
    status,
    headers: {
      'content-type': /^[\x20-\x7e]{1,128}$/.test(type) ? type : 'application/octet-stream',
      ...(typeof wait === 'string' && /^\d{1,6}$/.test(wait) && { 'retry-after': wait }),
    },
    body: withoutKeys(body, credentials, MARKETPLACE_LIMITS.sale.refusalBytes),
    costRaw: 0n,
    payment: 'passthrough',
    upstreamMs: 0,
    advisory: undefined,
  };
}

/**
 * Returns the first bytes of a refusal, without the credentials that some vendors quote. Also finds a credential that the bound
 * would cut, since it reads the length of a credential beyond the bound.
 */
function withoutKeys(body: Buffer, credentials: readonly string[], mostBytes: number): Buffer {
  const keys = credentials.filter((key) => key !== '');
  const rest = Math.max(0, ...keys.map((key) => Buffer.byteLength(key) - 1));
  const read = body.subarray(0, mostBytes + rest);
  const quoted = keys.filter((key) => read.includes(key));
  if (quoted.length === 0) return read.subarray(0, mostBytes);
  const text = quoted.reduce(
    (left, key) => left.replaceAll(Buffer.from(key).toString('latin1'), '***'),
    read.toString('latin1'),
  );
  const clean = Buffer.from(text, 'latin1');
  // The end may be the beginning of one more credential, and the replacements may have moved it below the bound.
  const whole = read.length < body.length ? clean.subarray(0, clean.length - rest) : clean;
  return whole.subarray(0, mostBytes);
}
