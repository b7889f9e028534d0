import { parseAmountRaw } from '../kernel/amount.ts';
import { isObject, type Json } from '../kernel/json.ts';
import { parseAddress, ZERO_ADDRESS } from './address.ts';

export type ProtocolVersion = 1 | 2;

/** Token contract and chain with which this server pays. */
export type Terms = { readonly usdc: string; readonly chainId: 8453 };

/** One verified way to pay a vendor. */
export type PaymentOffer = {
  readonly version: ProtocolVersion;
  readonly scheme: 'exact';
  /** Name of the network in the vendor's spelling, because servers compare it with their own. */
  readonly network: string;
  readonly amountRaw: bigint;
  /** Address of the token contract. `asset` and `payTo` are in lower case. */
  readonly asset: string;
  readonly payTo: string;
  /** Timeout that the vendor states; no signature depends on it. */
  readonly maxTimeoutSeconds: number | undefined;
  /** Whole entry as received, to send back to the vendor. */
  readonly entry: Json;
};

const AMOUNT_FIELD = { 1: 'maxAmountRequired', 2: 'amount' } as const;

/** Returns the offer in one entry of a challenge; undefined when the entry is malformed or cannot be paid here. */
export function parseOffer(
  entry: unknown,
  version: ProtocolVersion,
  terms: Terms,
): PaymentOffer | undefined {
  if (!isObject(entry) || entry.scheme !== 'exact' || !isPlainUsdc(entry.extra)) return undefined;
  const network = parseNetwork(entry.network, version, terms);
  const amount = entry[AMOUNT_FIELD[version]];
  const amountRaw = typeof amount === 'string' ? parseAmountRaw(amount) : undefined;
  const usdc = terms.usdc.toLowerCase();
  const payTo = parseAddress(entry.payTo);
  if (network === undefined || amountRaw === undefined || payTo === undefined) return undefined;
  if (parseAddress(entry.asset) !== usdc || payTo === usdc || payTo === ZERO_ADDRESS) {
    return undefined;
  }
  const maxTimeoutSeconds = parseSeconds(entry.maxTimeoutSeconds);
  return {
    version,
    scheme: 'exact',
    network,
    amountRaw,
    asset: usdc,
    payTo,
    maxTimeoutSeconds,
    entry,
  };
}

/**
 * Returns true unless the offer pays the wallet itself. Such a transfer succeeds on chain and moves nothing, so no vendor would
 * be paid.
 */
export const isPayableBy = (offer: Pick<PaymentOffer, 'payTo'>, wallet: string): boolean =>
  offer.payTo !== wallet.toLowerCase();

/** Returns the cheapest offer; of equal offers, the first. Undefined without offers. */
export function chooseOffer<T extends Pick<PaymentOffer, 'amountRaw'>>(
  offers: readonly T[],
): T | undefined {
  let best: T | undefined;
  for (const offer of offers) {
    if (best === undefined || offer.amountRaw < best.amountRaw) best = offer;
  }
  return best;
}

/** Returns the vendor's spelling of our network; undefined for another network. Version 2 has CAIP-2 names only. */
function parseNetwork(value: unknown, version: ProtocolVersion, terms: Terms): string | undefined {
  const caip2 = `eip155:${terms.chainId}`;
  if (value === caip2) return caip2;
  return version === 1 && value === 'base' ? value : undefined;
}

/**
 * Returns true when the payment needs no other transfer method and no other EIP-712 domain than USDC's. Others are never
 * signed.
 */
function isPlainUsdc(extra: unknown): boolean {
  if (extra === undefined || extra === null) return true;
  if (!isObject(extra)) return false;
  const says = (member: string, expected: string) =>
    extra[member] === undefined || extra[member] === expected;
  return says('assetTransferMethod', 'eip3009') && says('name', 'USD Coin') && says('version', '2');
}

const parseSeconds = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
