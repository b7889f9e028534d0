import { ApiError } from '../kernel/api-error.ts';
import { errors } from '../kernel/errors.ts';
import { LIMITS } from '../kernel/limits.ts';
import type { Log } from '../kernel/log.ts';
import { type VendorAnswer, VendorFailed } from '../models/providers/vendors/vendor-api.ts';
import type { MarketAnswer } from '../payments/proxy/marketplace.ts';
import type { OpenAccount } from './open-accounts.ts';
import { OwnRefusal } from './own-refusal.ts';
import { VendorRefused } from './vendor.ts';

/** About the account of this server, and nothing that its caller could read as a word on its own. */
const ABOUT_ACCOUNT = new Set([401, 402, 403, 407]);

/**
 * What is answered where a vendor has not delivered: its own words, with status, for its refusals and failures. Throws where
 * there are none, and everything that is no vendor's doing.
 */
export function refuseVendor(
  { accounts, log }: { readonly accounts: ReadonlyMap<string, OpenAccount>; readonly log: Log },
  vendor: string,
  error: unknown,
): MarketAnswer & { readonly advisory: undefined } {
  if (error instanceof VendorRefused) {
    const { status } = error.answer;
    if (ABOUT_ACCOUNT.has(status) || status < 400) {
      log.error(
        { vendor, status },
        'a vendor of the marketplace refused the account of this server',
      );
      throw new OwnRefusal(
        errors.marketplace.vendorUnavailable(`${vendor} does not serve this server now.`),
      );
    }
    log.warn({ vendor, status }, 'a vendor of the marketplace refused');
    return relayed(error.answer, accounts.get(vendor)?.credentials ?? []);
  }
  if (error instanceof VendorFailed) {
    log.warn({ vendor, err: error }, 'a vendor of the marketplace failed');
    throw errors.proxy.unreachable(`${vendor} ${error.message}; nothing was charged.`);
  }
  throw error instanceof ApiError && isInput(error) ? new OwnRefusal(error) : error;
}

/** A part of this process refused the request once it was asked. */
const isInput = ({ status }: ApiError): boolean => status === 400;

function relayed(
  { body, headers, status }: VendorAnswer,
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
    body: withoutKeys(body.subarray(0, LIMITS.marketplace.refusalBytes), credentials),
    costRaw: 0n,
    payment: 'passthrough',
    upstreamMs: 0,
    advisory: undefined,
  };
}

/** Some refusals quote the credential that they are about. */
function withoutKeys(body: Buffer, credentials: readonly string[]): Buffer {
  const quoted = credentials.filter((key) => key !== '' && body.includes(key));
  if (quoted.length === 0) return body;
  const text = quoted.reduce((rest, key) => rest.replaceAll(key, '***'), body.toString('latin1'));
  return Buffer.from(text, 'latin1');
}
