import { LIMITS } from '../../kernel/limits.ts';

/** A number of tokens that an upstream tells, or nothing where it is none that could be billed. */
export function tokenCount(value: unknown): number | undefined {
  const isCount = Number.isSafeInteger(value) && (value as number) >= 0;
  return isCount && (value as number) <= LIMITS.upstreamTokens ? (value as number) : undefined;
}
