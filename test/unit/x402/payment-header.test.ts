import { decodePaymentSignatureHeader, encodePaymentSignatureHeader } from '@x402/core/http';
import { PaymentPayloadV1Schema, PaymentPayloadV2Schema } from '@x402/core/schemas';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Authorization } from '../../../src/x402/authorization.ts';
import { parseChallenge, type VendorAnswer } from '../../../src/x402/challenge.ts';
import { chooseOffer } from '../../../src/x402/offer.ts';
import { encodePayment } from '../../../src/x402/payment-header.ts';
import {
  base64,
  challengeV2,
  entryV1,
  entryV2,
  GOLDEN,
  TERMS,
  withBody,
  withHeader,
} from '../../support/challenges.ts';
import vectors from '../../vectors/x402.json' with { type: 'json' };

function negotiate(answer: VendorAnswer) {
  const parsed = parseChallenge(answer, TERMS);
  if (parsed.kind !== 'challenge') throw new Error(JSON.stringify(parsed));
  const { challenge } = parsed;
  const offer = chooseOffer(challenge.offers);
  if (offer === undefined) throw new Error('expected an offer');
  return { challenge, offer };
}

async function pay(answer: VendorAnswer, signature: string = vectors.signature) {
  const { challenge, offer } = negotiate(answer);
  const authorization = { ...GOLDEN, to: offer.payTo, valueRaw: offer.amountRaw };
  return encodePayment(challenge, offer, authorization, signature);
}

const decode = (value: string) => JSON.parse(Buffer.from(value, 'base64').toString('utf8'));

describe('a payment header', () => {
  it('a version 2 payment header has the bytes of the golden vector', async () => {
    expect(await pay(withHeader(vectors.v2.challengeHeader))).toEqual({
      name: 'PAYMENT-SIGNATURE',
      value: vectors.v2.paymentHeader,
    });
  });

  it('a version 1 payment header has the bytes of the golden vector, wherever the challenge was', async () => {
    for (const answer of [
      withBody(vectors.v1.challengeBody),
      withHeader(vectors.v1.challengeHeaderSingle),
      withHeader(vectors.v1.challengeHeaderList),
    ]) {
      expect(await pay(answer)).toEqual({ name: 'X-PAYMENT', value: vectors.v1.paymentHeader });
    }
  });

  it('a version 1 payment header spells the network as the vendor does', async () => {
    const { value } = await pay(withHeader(base64(entryV1({ network: 'eip155:8453' }))));
    expect(decode(value)).toMatchObject({ x402Version: 1, network: 'eip155:8453' });
  });

  it('a version 2 payment header echoes the entry, extensions and resource and leaves out what was absent', async () => {
    const entry = entryV2({
      extra: { version: '2', name: 'USD Coin', salt: '7', list: [1, null] },
    });
    const extensions = { bazaar: { info: { input: {} } }, empty: {} };
    const resource = { url: 'https://vendor.example/ä', tags: [] };
    const said = decode((await pay(challengeV2([entry], { extensions, resource }))).value);
    expect(said).toMatchObject({ accepted: entry, extensions, resource });
    const bare = decode(
      (await pay(withHeader(base64({ x402Version: 2, accepts: [entry] })))).value,
    );
    expect(Object.keys(bare)).toEqual(['x402Version', 'accepted', 'payload']);
  });

  it('a payment header passes the published decoder and schemas and has the published bytes', async () => {
    const key = fc.string({ minLength: 1 });
    const amount = fc.bigInt(0n, 2n ** 63n - 1n).map(String);
    const signature = fc
      .uint8Array({ minLength: 65, maxLength: 65 })
      .map((bytes) => `0x${Buffer.from(bytes).toString('hex')}`);
    const extensions = fc.option(fc.dictionary(key, fc.jsonValue()), { nil: undefined });
    await fc.assert(
      fc.asyncProperty(amount, signature, extensions, key, async (price, signed, more, extra) => {
        const v2 = entryV2({ amount: price, extra: { [`x${extra}`]: extra } });
        for (const [answer, schema] of [
          [challengeV2([v2], { extensions: more }), PaymentPayloadV2Schema],
          [withHeader(base64(entryV1({ maxAmountRequired: price }))), PaymentPayloadV1Schema],
        ] as const) {
          const { value } = await pay(answer, signed);
          const decoded = decodePaymentSignatureHeader(value);
          expect(schema.safeParse(decoded).error).toBeUndefined();
          expect(encodePaymentSignatureHeader(decoded)).toBe(value);
          expect(decoded.payload).toMatchObject({
            signature: signed,
            authorization: { value: price, validAfter: '0' },
          });
        }
      }),
    );
  });

  it('a payment header is refused for another payee, another amount or another challenge than offered', async () => {
    const { challenge, offer } = negotiate(withHeader(vectors.v2.challengeHeader));
    const encode = (changes: Partial<Authorization>, from = challenge) =>
      encodePayment(from, offer, { ...GOLDEN, ...changes }, vectors.signature);
    await expect(encode({ to: GOLDEN.from })).rejects.toThrow('what was offered');
    await expect(encode({ valueRaw: 10_001n })).rejects.toThrow('what was offered');
    const other = negotiate(challengeV2([entryV2()])).challenge;
    await expect(encode({}, other)).rejects.toThrow('the vendor that made it');
  });
});
