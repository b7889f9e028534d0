import type { Metered } from './charge-row.ts';
import { type OpenPurchase, type Relayed, relay } from './purchase.ts';
import { receiptHeaders } from './receipt.ts';

type Whole = { readonly body: Uint8Array; readonly contentType: string };

/** Settles an answer that has come whole to what it has used, and relays it under the receipt of that. */
export async function deliverWhole(
  bought: OpenPurchase<Whole>,
  metered: Metered,
): Promise<Relayed> {
  const { outcome, served, upstreamMs } = bought;
  const settled = await bought.settle(metered);
  return relay(outcome, receiptHeaders(served, settled), upstreamMs);
}
