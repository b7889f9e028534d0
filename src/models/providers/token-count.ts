import { LIMITS } from '../../kernel/limits.ts';

/** Returns a number of tokens that an upstream reports. Undefined when the number cannot be billed. */
export function tokenCount(value: unknown): number | undefined {
  const isCount = Number.isSafeInteger(value) && (value as number) >= 0;
  return isCount && (value as number) <= LIMITS.upstreamTokens ? (value as number) : undefined;
}
