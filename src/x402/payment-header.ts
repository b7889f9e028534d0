import { assert } from '../kernel/assert.ts';
import { checksumAddress } from './address.ts';
import { type Authorization, authorizationInWords } from './authorization.ts';
import { encodeBase64Json } from './base64-json.ts';
import type { Challenge } from './challenge.ts';
import type { PaymentOffer, ProtocolVersion } from './offer.ts';

export type PaymentHeader = { readonly name: string; readonly value: string };

const PAYMENT_HEADER: Readonly<Record<ProtocolVersion, string>> = {
  1: 'X-PAYMENT',
  2: 'PAYMENT-SIGNATURE',
};

/** Returns the header that pays one offer of a challenge, byte for byte as published clients write it. */
export async function encodePayment(
  challenge: Challenge,
  offer: PaymentOffer,
  authorization: Authorization,
  signature: string,
): Promise<PaymentHeader> {
  assert(challenge.offers.includes(offer), 'an offer is paid to the vendor that made it');
  assert(
    authorization.to === offer.payTo && authorization.valueRaw === offer.amountRaw,
    'what is signed is what was offered',
  );
  const payload = { signature, authorization: await toWire(authorization) };
  const { scheme, network, entry } = offer;
  const { resource, extensions } = challenge;
  // Members that are undefined are left out of the JSON.
  const document =
    challenge.version === 1
      ? { x402Version: 1, scheme, network, payload }
      : { x402Version: 2, resource, accepted: entry, payload, extensions };
  return { name: PAYMENT_HEADER[challenge.version], value: encodeBase64Json(document) };
}

async function toWire(authorization: Authorization) {
  return {
    ...authorizationInWords(authorization),
    from: await checksumAddress(authorization.from),
    to: await checksumAddress(authorization.to),
  };
}
