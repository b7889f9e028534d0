import type { IncomingHttpHeaders } from 'node:http';
import type { Address, Hex } from 'viem';
import { type Transfer, USDC, USDC_DOMAIN } from './eip3009.ts';
import { fromBase64, toBase64 } from './hand-payer.ts';

/** A 402 as scripted. Whatever is not named is as an honest vendor would have it. */
export type ChallengeShape = {
  readonly version?: 1 | 2;
  /**
   * `header`: what the version's specification says, the envelope in version 2 and one bare offer in 1.
   * `array` and `envelope`: the other header forms of version 1. `body`: JSON, as published version 1 servers do.
   */
  readonly form?: 'header' | 'array' | 'envelope' | 'body';
  readonly status?: number;
  /** The price, in whichever field the version has it. */
  readonly amount?: unknown;
  /** Laid over the offer: network, asset, payTo, scheme, extra, maxTimeoutSeconds and anything else. */
  readonly offer?: Readonly<Record<string, unknown>>;
  readonly offersBefore?: readonly unknown[];
  readonly offersAfter?: readonly unknown[];
  /** Laid over the envelope: x402Version, accepts, resource, extensions, error. */
  readonly envelope?: Readonly<Record<string, unknown>>;
  /** Sent as it is instead of the encoded challenge. */
  readonly headerText?: string;
  /** More values under the same header name. */
  readonly headerCopies?: readonly string[];
  readonly headers?: readonly (readonly [string, string])[];
  /** Sent as it is instead of the body. */
  readonly body?: string;
};

export type Place = { readonly url: string; readonly payTo: Address; readonly priceRaw: bigint };

export type Rendered = {
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
};

/** The honest offer of either version. */
export function offerOf(version: 1 | 2, place: Place): Record<string, unknown> {
  const { name, version: domainVersion } = USDC_DOMAIN;
  const extra = { name, version: domainVersion };
  const shared = { scheme: 'exact', asset: USDC, payTo: place.payTo, extra };
  const price = String(place.priceRaw);
  return version === 2
    ? { ...shared, network: 'eip155:8453', amount: price, maxTimeoutSeconds: 300 }
    : {
        ...shared,
        network: 'base',
        maxAmountRequired: price,
        resource: place.url,
        description: 'scripted thing',
        mimeType: 'application/json',
        maxTimeoutSeconds: 60,
      };
}

/** Writes the challenge down as head and body. */
export function renderChallenge(shape: ChallengeShape, place: Place): Rendered {
  const version = shape.version ?? 2;
  const form = shape.form ?? (version === 2 ? 'header' : 'body');
  const amountField = version === 2 ? 'amount' : 'maxAmountRequired';
  const offer = {
    ...offerOf(version, place),
    ...('amount' in shape ? { [amountField]: shape.amount } : {}),
    ...shape.offer,
  };
  const accepts = [...(shape.offersBefore ?? []), offer, ...(shape.offersAfter ?? [])];
  const envelope = {
    x402Version: version,
    error: 'Payment required',
    ...(version === 2 ? { resource: { url: place.url, mimeType: 'application/json' } } : {}),
    accepts,
    ...shape.envelope,
  };
  const inHeader =
    version === 2 || form === 'envelope' ? envelope : form === 'array' ? accepts : offer;
  const values = [
    ...(form === 'body' && shape.headerText === undefined
      ? []
      : [shape.headerText ?? toBase64(inHeader)]),
    ...(shape.headerCopies ?? []),
  ];
  return {
    status: shape.status ?? 402,
    headers: [
      ['content-type', 'application/json'],
      ...values.map((value) => ['payment-required', value] as const),
      ...(shape.headers ?? []),
    ],
    body: shape.body ?? (form === 'body' ? JSON.stringify(envelope) : '{}'),
  };
}

/** What a buyer handed over. */
export type Payment = {
  readonly version: 1 | 2;
  readonly transfer: Transfer;
  readonly signature: Hex;
  /** The whole header as decoded. */
  readonly content: Record<string, unknown>;
};

const PAYMENT_HEADERS = [
  ['x-payment', 1],
  ['payment-signature', 2],
] as const;

/** The payment in a request: nothing without one, `unreadable` when it makes no sense. */
export function paymentIn(headers: IncomingHttpHeaders): Payment | 'unreadable' | undefined {
  for (const [name, version] of PAYMENT_HEADERS) {
    const value = headers[name];
    if (typeof value !== 'string') continue;
    try {
      return read(version, fromBase64(value) as Record<string, unknown>);
    } catch {
      return 'unreadable';
    }
  }
  return undefined;
}

function read(version: 1 | 2, content: Record<string, unknown>): Payment {
  const { authorization, signature } = content.payload as {
    authorization: Record<keyof Transfer, string>;
    signature: Hex;
  };
  const { from, to, value, validAfter, validBefore, nonce } = authorization;
  const transfer: Transfer = {
    from: from as Address,
    to: to as Address,
    value: BigInt(value),
    validAfter: BigInt(validAfter),
    validBefore: BigInt(validBefore),
    nonce: nonce as Hex,
  };
  return { version, transfer, signature, content };
}
