import { LIMITS } from '../../kernel/limits.ts';

/** A number of tokens that an upstream reports; undefined where it could not be billed. */
export function tokenCount(value: unknown): number | undefined {
  const isCount = Number.isSafeInteger(value) && (value as number) >= 0;
  return isCount && (value as number) <= LIMITS.upstreamTokens ? (value as number) : undefined;
}
