import type { ApiError } from '../../kernel/api-error.ts';
import type { HoldRefusal } from '../../ledger/rules/requests.ts';
import { refuseSpend } from '../../spend/limits/refuse-spend.ts';
import { phoneErrors } from '../errors.ts';

/** Returns the error for a refused hold of the first month, as the routes that rent numbers report it. */
export function refusePurchase(refusal: HoldRefusal): ApiError {
  switch (refusal.reason) {
    case 'insufficient_balance':
      return phoneErrors.insufficientBalance(
        refusal.availableRaw.toString(),
        refusal.requiredRaw.toString(),
      );
    case 'agent_suspended':
    case 'agent_closed':
    case 'agent_unknown':
      return phoneErrors.agentUnavailable();
    case 'agent_not_active':
      return phoneErrors.agentNotReady();
    default:
      return refuseSpend(refusal);
  }
}
