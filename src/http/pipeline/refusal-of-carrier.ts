import type { CarrierCaller } from '../route/caller.ts';
import type { GatedRequest, StrangerGate } from '../server/stranger-gate.ts';

/** Counts a refusal of a request that no carrier has signed. Returns the refusal, or the 429 in its place. */
export function refusalOfCarrier(
  { strangers }: { readonly strangers: Pick<StrangerGate, 'countFailure'> },
  asked: GatedRequest,
  { isBelieved }: CarrierCaller,
  refusal: unknown,
): unknown {
  if (isBelieved) return refusal;
  try {
    strangers.countFailure(asked);
  } catch (limited) {
    return limited;
  }
  return refusal;
}
