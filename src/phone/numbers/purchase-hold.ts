import type { Hold } from '../../ledger/rules/requests.ts';
import type { Queryable } from '../../platform/postgres/sql.ts';
import type { PhoneNumber } from './number.ts';
import { findHoldFacts } from './number-store.ts';
import { RENTAL_DESTINATION } from './rental-charge.ts';

/** Facts of a hold that is resolved. The ledger moves no money for it, so these values have no effect. */
const UNKNOWN_FACTS = {
  keyRootId: null,
  taskId: null,
  host: RENTAL_DESTINATION.host,
  payee: RENTAL_DESTINATION.payee,
};

/** Returns the hold of the first month as its purchase opened it: another process may settle it. */
export async function readPurchaseHold(sql: Queryable, number: PhoneNumber): Promise<Hold> {
  const { purchaseId, agentId, monthlyRentalRaw } = number;
  const facts = (await findHoldFacts(sql, purchaseId)) ?? UNKNOWN_FACTS;
  return { holdId: purchaseId, agentId, amountRaw: monthlyRentalRaw, facts };
}
