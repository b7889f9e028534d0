import type { ApiError } from '../../kernel/api-error.ts';
import { errors } from '../../kernel/errors.ts';
import type { HoldRefusal } from '../../ledger/rules/requests.ts';
import { breachFields, breachSentence, isSessionLimit } from '../../spend/limits/breach-fields.ts';
import { refuseSpend } from '../../spend/limits/refuse-spend.ts';

/**
 * Why a payment was not made, in the words of the proxy: every control has one code there. `requiredRaw` stands for the
 * amount that the control was asked for, where that is not the price.
 */
export function refusePayment(refusal: HoldRefusal, requiredRaw?: bigint | null): ApiError {
  if (refusal.reason === 'insufficient_balance') {
    const { availableRaw, requiredRaw } = refusal;
    return errors.proxy.insufficientBalance(availableRaw.toString(), requiredRaw.toString());
  }
  if (refusal.reason !== 'cap_exceeded') return refuseSpend(refusal);
  const { breach } = refusal;
  const isPolicy = !isSessionLimit(breach);
  return errors.proxy.spendLimitExceeded(breachSentence(breach), {
    ...(isPolicy && { code: 'policy_exceeded' }),
    ...breachFields(refusal, requiredRaw),
  });
}
