import type { Outcome } from '../providers/outcome.ts';

/** Stores a delivery before it is charged. When it rejects, nothing is charged and the purchase rejects. */
export type StoreDelivered<T> = (delivered: T) => Promise<void>;

/** Resolves with the outcome, after `keep` has stored a delivered one. */
export async function storeBeforeCharge<T>(
  asked: Promise<Outcome<T>>,
  keep: StoreDelivered<T> | undefined,
): Promise<Outcome<T>> {
  const outcome = await asked;
  if (outcome.kind === 'completed') await keep?.(outcome);
  return outcome;
}
