import { parseUsd } from '../../kernel/amount.ts';

/**
 * Returns a carrier's price in raw USDC, ignoring its minus sign: Twilio writes a charge as `-0.0085`. Null when the text is
 * not an amount of US dollars.
 */
export function carrierPriceRaw(text: unknown, currency: unknown = 'USD'): bigint | null {
  if (typeof text !== 'string' || String(currency).toUpperCase() !== 'USD') return null;
  return parseUsd(text.replace(/^-/, '')) ?? null;
}
