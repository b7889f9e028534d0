import type { ApiError } from '../../kernel/api-error.ts';
import type { HoldRefusal } from '../../ledger/rules/requests.ts';
import { breachFields, breachSentence, isSessionLimit } from '../../spend/limits/breach-fields.ts';
import { refuseSpend } from '../../spend/limits/refuse-spend.ts';
import { proxyErrors } from '../errors.ts';

/**
 * Returns the proxy's refusal of a payment; on the proxy every control has one code. `requiredRaw` is stated in place of the
 * amount that the control refused, when that amount is not the price.
 */
export function refusePayment(refusal: HoldRefusal, requiredRaw?: bigint | null): ApiError {
  if (refusal.reason === 'insufficient_balance') {
    const { availableRaw, requiredRaw } = refusal;
    return proxyErrors.insufficientBalance(availableRaw.toString(), requiredRaw.toString());
  }
  if (refusal.reason !== 'cap_exceeded') return refuseSpend(refusal);
  const { breach } = refusal;
  const isPolicy = !isSessionLimit(breach);
  return proxyErrors.spendLimitExceeded(breachSentence(breach), {
    ...(isPolicy && { code: 'policy_exceeded' }),
    ...breachFields(refusal, requiredRaw),
  });
}
