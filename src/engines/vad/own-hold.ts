import { minRaw } from '../../kernel/amount.ts';
import type { CallerFacts } from '../engine.ts';

/** Amount held for the caller, and its part that is spent and not settled yet. */
export type OwnHold = { readonly heldRaw: bigint; readonly spentRaw: bigint };

/**
 * Returns the facts as they will be once the hold of this very question is settled to its spent amount. A caller who asks for
 * the balance hears the balance after that settlement, not the balance during the hold.
 */
export function settleOwn(facts: CallerFacts, own: OwnHold): CallerFacts {
  // The facts may have been read before the last change of the hold.
  const heldRaw = minRaw(own.heldRaw, facts.heldRaw);
  const freeRaw = facts.spendableRaw + heldRaw;
  const spentRaw = minRaw(own.spentRaw, freeRaw);
  return {
    ...facts,
    spendableRaw: freeRaw - spentRaw,
    heldRaw: facts.heldRaw - heldRaw,
    spentRaw: facts.spentRaw + spentRaw,
  };
}
