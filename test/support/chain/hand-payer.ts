import { request } from 'undici';
import type { Address, Hex, LocalAccount } from 'viem';
import { signTransfer, type Transfer } from './eip3009.ts';

type Offer = {
  readonly network: string;
  readonly payTo: Address;
  readonly amount?: string;
  readonly maxAmountRequired?: string;
};

type Challenge = {
  readonly x402Version: number;
  readonly accepts: readonly [Offer, ...Offer[]];
  readonly resource?: unknown;
};

export type HandAnswer = {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly body: string;
};

export const toBase64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64');
export const fromBase64 = (text: string): unknown =>
  JSON.parse(Buffer.from(text, 'base64').toString('utf8'));

export async function ask(url: string, headers: Record<string, string> = {}): Promise<HandAnswer> {
  const answer = await request(url, { headers });
  return { status: answer.statusCode, headers: answer.headers, body: await answer.body.text() };
}

/** What a vendor's 402 demands, in the header or in the body. */
export function challengeIn(answer: HandAnswer): Challenge {
  const header = answer.headers['payment-required'];
  return (typeof header === 'string' ? fromBase64(header) : JSON.parse(answer.body)) as Challenge;
}

/** Signs exactly the first offer, and says under which header the vendor wants it. */
export async function payFirstOffer(
  challenge: Challenge,
  wallet: LocalAccount,
  times: { readonly validBefore: bigint; readonly nonce: Hex },
): Promise<{ readonly transfer: Transfer; readonly headers: Record<string, string> }> {
  const [offer] = challenge.accepts;
  const value = BigInt(offer.amount ?? offer.maxAmountRequired ?? 0);
  const transfer = { from: wallet.address, to: offer.payTo, value, validAfter: 0n, ...times };
  const authorization = Object.fromEntries(
    Object.entries(transfer).map(([name, part]) => [name, String(part)]),
  );
  const payload = { signature: await signTransfer(wallet, transfer), authorization };
  const { x402Version, resource } = challenge;
  const headers: Record<string, string> =
    x402Version === 1
      ? { 'x-payment': toBase64({ x402Version, scheme: 'exact', network: offer.network, payload }) }
      : { 'payment-signature': toBase64({ x402Version, resource, accepted: offer, payload }) };
  return { transfer, headers };
}
