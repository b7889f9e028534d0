import type { ApiError } from '../../kernel/api-error.ts';
import type { HoldRefusal } from '../../ledger/rules/requests.ts';
import type { Breach } from '../../policy/evaluate.ts';
import { breachFields, breachSentence } from '../../spend/limits/breach-fields.ts';
import { refuseSpend } from '../../spend/limits/refuse-spend.ts';
import { gatewayErrors } from '../errors.ts';

/** Returns the gateway's error for a refused hold. All exhausted amounts have one error code. */
export function refuseHold(refusal: HoldRefusal): ApiError {
  switch (refusal.reason) {
    case 'insufficient_balance':
      return gatewayErrors.budgetExhausted({
        scope: 'wallet',
        remaining_raw: refusal.availableRaw.toString(),
        available: refusal.availableRaw.toString(),
        required: refusal.requiredRaw.toString(),
      });
    case 'cap_exceeded':
      return gatewayErrors.capExceeded(breachSentence(refusal.breach), {
        scope: refusal.breach.policy.kind,
        remaining_raw: remainingOf(refusal.breach),
        ...breachFields(refusal),
      });
    default:
      return refuseSpend(refusal);
  }
}

/** Returns the amount that a cap leaves. A cap that was lowered below the spent amount leaves 0. */
const remainingOf = ({ capRaw, spentRaw }: Breach): string =>
  (capRaw > spentRaw ? capRaw - spentRaw : 0n).toString();
