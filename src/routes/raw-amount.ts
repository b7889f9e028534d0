import { z } from 'zod';
import { ACCOUNT_LIMITS } from '../accounts/limits.ts';
import { parseAmountRaw } from '../kernel/amount.ts';

/** Parses an amount of raw USDC above zero, of which a thousand fit in a balance. Undefined for anything else. */
export function parseRaw(text: string): bigint | undefined {
  const amountRaw = parseAmountRaw(text);
  return amountRaw !== undefined && amountRaw > 0n && amountRaw <= ACCOUNT_LIMITS.agent.creditRaw
    ? amountRaw
    : undefined;
}

/** A raw USDC amount as a field of a body, with the bounds of `parseRaw`. */
export const RawAmount = z
  .string()
  .refine((text) => parseRaw(text) !== undefined, {
    message: `must be raw USDC from 1 to ${ACCOUNT_LIMITS.agent.creditRaw}, in digits`,
  })
  .transform((text) => BigInt(text));
