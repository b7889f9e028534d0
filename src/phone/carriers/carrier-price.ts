import { parseUsd } from '../../kernel/amount.ts';

/** Raw USDC of dollars as a carrier writes them: `-0.0085` is what it takes. Null where it is no amount of dollars. */
export function carrierPriceRaw(text: unknown, currency: unknown = 'USD'): bigint | null {
  if (typeof text !== 'string' || String(currency).toUpperCase() !== 'USD') return null;
  return parseUsd(text.replace(/^-/, '')) ?? null;
}
