import type { BudgetLeft } from '../../spend/awareness/budget-left.ts';
import type { Source } from '../catalogue/catalogue.ts';
import type { Completed } from '../providers/outcome.ts';
import { type Price, receiptHeaders, type Served } from './receipt.ts';
import type { Settled } from './settle.ts';

/** Answer that an upstream has begun to deliver. Its hold stays open until `settle` is called, once. */
export type HeldPurchase<T> = {
  readonly kind: 'bought';
  readonly outcome: Completed<T>;
  readonly served: Served;
  readonly source: Source;
  readonly upstreamMs: number;
  /** Amount that the agent may still spend, before this purchase is settled. */
  budget(): Promise<BudgetLeft>;
  /** Charges the usage up to now. `error` is the class of the failure that broke the answer off, for its trace. */
  settle(error?: string): Promise<Settled>;
};

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
