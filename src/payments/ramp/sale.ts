import { z } from 'zod';
import type { CashOutEvent } from '../../../machines/cash-out.ts';
import { parseUsd } from '../../kernel/amount.ts';
import type { Log } from '../../kernel/log.ts';
import { PAYMENT_LIMITS } from '../limits.ts';

/** A sale of USDC at the provider, under the reference of an order. */
export type Sale = {
  readonly id: string;
  /** Event that the sale's present status is for its order. */
  readonly event: Extract<CashOutEvent, `sale.${string}`>;
  /** Address in lower case to which the user sends the USDC. */
  readonly depositAddress: string | null;
  readonly amountRaw: bigint | null;
  /** Amount and currency that the user gets, in the provider's words. */
  readonly fiat: string | null;
};

const Money = z.object({ value: z.string().max(40), currency: z.string().max(16) }).nullish();

const SaleAnswer = z.object({
  transaction_id: z.string().min(1).max(128),
  status: z.string().max(64),
  asset: z.string().max(32).nullish(),
  network: z.string().max(32).nullish(),
  to_address: z
    .string()
    .regex(/^0x[0-9a-fA-F]{40}$/)
    .toLowerCase()
    .nullish()
    .catch(null),
  sell_amount: Money.catch(null),
  total: Money.catch(null),
  tx_hash: z.string().max(128).nullish().catch(null),
});

/** The provider's list of sales, newest first. A sale that cannot be read is left out. */
export const SalesAnswer = z.object({ transactions: z.array(z.unknown()).max(1_000).nullish() });

/** Reads the sales of USDC on Base, and leaves out all others: the user must not be told to send USDC for them. */
export function readSales(
  { transactions }: z.output<typeof SalesAnswer>,
  log: Log,
): readonly Sale[] {
  const sales: Sale[] = [];
  for (const entry of (transactions ?? []).slice(0, PAYMENT_LIMITS.cashOut.sales)) {
    const parsed = SaleAnswer.safeParse(entry);
    const sale = parsed.success ? saleOf(parsed.data) : undefined;
    if (sale !== undefined) sales.push(sale);
    else log.warn({ status: parsed.data?.status }, 'a sale at the ramp cannot be read');
  }
  return sales;
}

function saleOf(entry: z.output<typeof SaleAnswer>): Sale | undefined {
  const { asset, network, sell_amount: sold, total } = entry;
  if ((asset ?? 'USDC').toUpperCase() !== 'USDC') return undefined;
  if ((network ?? 'base').toLowerCase() !== 'base') return undefined;
  const event = eventOf(entry);
  if (event === undefined) return undefined;
  return {
    id: entry.transaction_id,
    event,
    depositAddress: entry.to_address ?? null,
    amountRaw: sold?.currency.toUpperCase() === 'USDC' ? (parseUsd(sold.value) ?? null) : null,
    fiat: total ? `${total.value} ${total.currency}` : null,
  };
}

/** Returns the event of a status. Undefined for a status that says nothing, or that this server does not know. */
function eventOf({ status, tx_hash }: z.output<typeof SaleAnswer>): Sale['event'] | undefined {
  switch (status) {
    case 'TRANSACTION_STATUS_CREATED':
    case 'TRANSACTION_STATUS_STARTED':
      return tx_hash ? 'sale.received' : 'sale.opened';
    case 'TRANSACTION_STATUS_SUCCESS':
      return 'sale.completed';
    case 'TRANSACTION_STATUS_FAILED':
      return 'sale.failed';
    case 'TRANSACTION_STATUS_EXPIRED':
      return 'sale.expired';
    default:
      return undefined;
  }
}
