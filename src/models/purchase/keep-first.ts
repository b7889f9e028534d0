import type { Outcome } from '../providers/outcome.ts';

/** Gets what was delivered before anything is charged. Where it rejects nothing is charged, and the purchase rejects with it. */
export type KeepFirst<T> = (delivered: T) => Promise<void>;

/** Resolves with the outcome, after `keep` has stored a delivered one. */
export async function storeBeforeCharge<T>(
  asked: Promise<Outcome<T>>,
  keep: KeepFirst<T> | undefined,
): Promise<Outcome<T>> {
  const outcome = await asked;
  if (outcome.kind === 'completed') await keep?.(outcome);
  return outcome;
}
