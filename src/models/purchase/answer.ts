import { type Price, receiptHeaders } from './receipt.ts';
import type { HeldPurchase } from './settle.ts';

/** Answer of an upstream, with the receipt in its headers. */
export type Relayed = {
  readonly status: number;
  readonly body: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
  /** Milliseconds that the upstreams took. */
  readonly upstreamMs: number;
};

type Whole = { readonly body: Uint8Array; readonly contentType: string };

/** Settles an answer that has come whole, and returns it with its receipt. `withPrice` writes the price into the body. */
export async function answerWhole(
  bought: HeldPurchase<unknown>,
  whole: Whole,
  withPrice = (body: Uint8Array, _price: Price): Uint8Array => body,
): Promise<Relayed> {
  const { outcome, served, upstreamMs } = bought;
  const settled = await bought.settle();
  return {
    status: outcome.status,
    body: withPrice(whole.body, settled),
    headers: receiptHeaders(served, settled, whole.contentType),
    upstreamMs,
  };
}
