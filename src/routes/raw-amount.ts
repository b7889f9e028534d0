import { z } from 'zod';
import { parseAmountRaw } from '../kernel/amount.ts';
import { LIMITS } from '../kernel/limits.ts';

/** Parses an amount of raw USDC above zero, of which a thousand fit in a balance. Undefined for anything else. */
export function parseRaw(text: string): bigint | undefined {
  const amountRaw = parseAmountRaw(text);
  return amountRaw !== undefined && amountRaw > 0n && amountRaw <= LIMITS.creditRaw
    ? amountRaw
    : undefined;
}

/** A raw USDC amount as a field of a body, with the bounds of `parseRaw`. */
export const RawAmount = z
  .string()
  .refine((text) => parseRaw(text) !== undefined, {
    message: `must be raw USDC from 1 to ${LIMITS.creditRaw}, in digits`,
  })
  .transform((text) => BigInt(text));
