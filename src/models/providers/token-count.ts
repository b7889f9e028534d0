import { MODEL_LIMITS } from '../limits.ts';

/** Returns a number of tokens that an upstream reports. Undefined when the number cannot be billed. */
export function tokenCount(value: unknown): number | undefined {
  const isCount = Number.isSafeInteger(value) && (value as number) >= 0;
  return isCount && (value as number) <= MODEL_LIMITS.usage.tokens ? (value as number) : undefined;
}
