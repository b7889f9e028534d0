import { parseAmountRaw } from '../kernel/amount.ts';
import { isObject, type Json } from '../kernel/json.ts';
import { parseAddress, ZERO_ADDRESS } from './address.ts';

export type ProtocolVersion = 1 | 2;

/** In which token, on which chain this server pays. */
export type Terms = { readonly usdc: string; readonly chainId: 8453 };

/** One verified way to pay a vendor. */
export type PaymentOffer = {
  readonly version: ProtocolVersion;
  readonly scheme: 'exact';
  /** As the vendor spells it: servers compare it with their own spelling. */
  readonly network: string;
  readonly amountRaw: bigint;
  /** Lower case, as `payTo`. */
  readonly asset: string;
  readonly payTo: string;
  /** Timeout that the vendor states; no signature depends on it. */
  readonly maxTimeoutSeconds: number | undefined;
  /** The whole entry as it was read, to be sent back. */
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

/** Version 2 knows CAIP-2 names only. */
function parseNetwork(value: unknown, version: ProtocolVersion, terms: Terms): string | undefined {
  const caip2 = `eip155:${terms.chainId}`;
  if (value === caip2) return caip2;
  return version === 1 && value === 'base' ? value : undefined;
}

/** Another way to transfer, or another domain than the token's own, needs a signature that is never given. */
function isPlainUsdc(extra: unknown): boolean {
  if (extra === undefined || extra === null) return true;
  if (!isObject(extra)) return false;
  const says = (member: string, expected: string) =>
    extra[member] === undefined || extra[member] === expected;
  return says('assetTransferMethod', 'eip3009') && says('name', 'USD Coin') && says('version', '2');
}

const parseSeconds = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
