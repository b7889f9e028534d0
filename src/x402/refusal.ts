import { isObject } from '../kernel/json.ts';
import { decodeBase64Json, headerValues, parseJson } from './base64-json.ts';
import type { VendorAnswer } from './challenge.ts';
import { X402_LIMITS } from './limits.ts';
import { decodeSettlement, vendorText } from './settlement.ts';

/**
 * Returns a vendor's stated reason for not accepting a payment, from the settlement header, the new challenge or the body, in
 * either version. The reason is a claim and proves nothing. Never throws.
 */
export function readRefusal(answer: VendorAnswer): string | undefined {
  const { body } = answer;
  const [header] = headerValues(answer.header, 'payment-required');
  const settled = decodeSettlement(answer.header)?.errorReason;
  if (settled !== undefined) return settled;
  const again = header === undefined ? undefined : errorOf(decodeBase64Json(header));
  if (again !== undefined) return again;
  if (body === undefined || body.byteLength > X402_LIMITS.challengeBodyBytes) return undefined;
  return errorOf(parseJson(body));
}

const errorOf = (decoded: ReturnType<typeof parseJson>): string | undefined =>
  decoded.kind === 'decoded' && isObject(decoded.value)
    ? vendorText(decoded.value.error)
    : undefined;
