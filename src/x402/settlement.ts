import { isObject, type Json } from '../kernel/json.ts';
import { parseAddress } from './address.ts';
import { decodeBase64Json, type HeaderLookup, headerValues, parseJson } from './base64-json.ts';
import { X402_LIMITS } from './limits.ts';

/** Settlement of a payment as its vendor claims it. The chain decides. */
export type ClaimedSettlement = {
  readonly success: boolean | undefined;
  /** Hash of the transaction, in lower case. */
  readonly transaction: string | undefined;
  readonly payer: string | undefined;
  readonly network: string | undefined;
  readonly errorReason: string | undefined;
};

/** Names of the settlement header in versions 2 and 1. Both are read, whichever version was paid. */
const SETTLEMENT_HEADERS = ['payment-response', 'x-payment-response'];

const NOTHING: ClaimedSettlement = {
  success: undefined,
  transaction: undefined,
  payer: undefined,
  network: undefined,
  errorReason: undefined,
};

/** Reads the settlement header of either version. Undefined when no such header has a readable member. Never throws. */
export function decodeSettlement(header: HeaderLookup): ClaimedSettlement | undefined {
  for (const name of SETTLEMENT_HEADERS) {
    for (const value of headerValues(header, name).slice(0, 1)) {
      const claimed = decodeValue(value);
      if (claimed !== undefined) return claimed;
    }
  }
  return undefined;
}

/** Decodes base64 of JSON. Version 1 does not fix the form, so that plain JSON and a bare transaction hash are accepted too. */
function decodeValue(value: string): ClaimedSettlement | undefined {
  if (value.length > X402_LIMITS.headerChars) return undefined;
  const hash = parseHash(value);
  if (hash !== undefined) return { ...NOTHING, transaction: hash };
  const decoded = value.startsWith('{') ? parseJson(Buffer.from(value)) : decodeBase64Json(value);
  if (decoded.kind === 'unreadable' || !isObject(decoded.value)) return undefined;
  return readMembers(decoded.value);
}

function readMembers(says: Json): ClaimedSettlement | undefined {
  const success = typeof says.success === 'boolean' ? says.success : undefined;
  const transaction = parseHash(says.transaction ?? says.transactionHash ?? says.txHash);
  if (success === undefined && transaction === undefined) return undefined;
  return {
    success,
    transaction,
    payer: parseAddress(says.payer),
    network: vendorText(says.network),
    errorReason: vendorText(says.errorReason),
  };
}

const parseHash = (value: unknown): string | undefined =>
  typeof value === 'string' && /^0x[0-9a-fA-F]{64}$/.test(value) ? value.toLowerCase() : undefined;

/** Returns a vendor's text, cut to `X402_LIMITS.reasonChars`; undefined when it is missing or empty. */
export const vendorText = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value.slice(0, X402_LIMITS.reasonChars) : undefined;
