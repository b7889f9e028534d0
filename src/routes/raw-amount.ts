import { z } from 'zod';
import { parseAmountRaw } from '../kernel/amount.ts';
import { LIMITS } from '../kernel/limits.ts';

/** An amount of raw USDC above zero, of which a thousand still fit a balance; undefined for anything else. */
export function parseRaw(text: string): bigint | undefined {
  const amountRaw = parseAmountRaw(text);
  return amountRaw !== undefined && amountRaw > 0n && amountRaw <= LIMITS.creditRaw
    ? amountRaw
    : undefined;
}

/** The same as a field of a body. */
export const RawAmount = z
  .string()
  .refine((text) => parseRaw(text) !== undefined, {
    message: `must be raw USDC from 1 to ${LIMITS.creditRaw}, in digits`,
  })
  .transform((text) => BigInt(text));
