import { minRaw } from '../../../kernel/amount.ts';
import type { HoldRefusal, Spender } from '../../../ledger/rules/requests.ts';
import { breachFields, breachSentence } from '../../../spend/limits/breach-fields.ts';
import { refuseSpend } from '../../../spend/limits/refuse-spend.ts';
import { phoneErrors } from '../../errors.ts';
import { PHONE_LIMITS } from '../../limits.ts';
import { minuteRaw } from '../../rate-card.ts';
import { findLivingNumber, findSuspension, type LivingNumber } from '../account-store.ts';
import type { Call, CallOptions } from '../call.ts';
import type { CallDeps } from '../call-deps.ts';
import { askLedger } from './ask-ledger.ts';
import { leastReserve } from './least-reserve.ts';
import type { CallOrder } from './order-options.ts';

/** Returns the number that an agent calls from. Throws when the agent cannot place calls. */
export async function requireNumber(
  { sql }: Pick<CallDeps, 'sql'>,
  { accountId, agentId }: Pick<CallOrder, 'accountId' | 'agentId'>,
): Promise<LivingNumber> {
  if ((await findSuspension(sql, accountId)) !== undefined) throw phoneErrors.telephonySuspended();
  const number = await findLivingNumber(sql, { agentId });
  if (number === undefined) throw phoneErrors.numberRequired();
  return number;
}

export type CallSpend = {
  /** Cost of one minute of the call. */
  readonly leastRaw: bigint;
  /** The reserve of the call, once it is answered. */
  readonly maxSpendRaw: bigint;
};

/** Upper bound of the cost of a call. Throws the refusal of less than one minute. */
export function spendOf(
  { rateCard }: Pick<CallDeps, 'rateCard'>,
  order: Pick<CallOrder, 'isRecorded' | 'maxSpendRaw'>,
  { detectsMachine }: Pick<CallOptions, 'detectsMachine'>,
): CallSpend {
  const line = { direction: 'outbound', detectsMachine } as const;
  const leastRaw = minuteRaw(rateCard, line, order.isRecorded);
  const ceilingRaw = PHONE_LIMITS.call.ceilingRaw;
  const maxSpendRaw = minRaw(order.maxSpendRaw ?? ceilingRaw, ceilingRaw);
  if (maxSpendRaw < leastRaw) {
    throw phoneErrors.maxSpendTooLow(`${maxSpendRaw}`, `${leastRaw}`);
  }
  return { leastRaw, maxSpendRaw };
}

/**
 * Throws when the spend controls for the model's provider leave no amount for an answer: such a call would be ended when it is
 * answered. The balance is checked together with the reserve.
 */
export async function requireAnswer(
  deps: Pick<CallDeps, 'cascades' | 'catalogue' | 'ledger' | 'models'>,
  call: Pick<Call, 'accountId' | 'callId' | 'direction' | 'options' | 'rates'>,
  spender: Spender,
): Promise<void> {
  const { callId } = call;
  const least = await leastReserve(deps, call);
  const refusal = least && (await askLedger(deps.ledger, { callId, spender, ...least.answer }));
  if (refusal !== undefined && refusal.reason !== 'insufficient_balance')
    throw notAdmitted(refusal);
}

/** Why a call is not admitted, in the words of the phone routes. */
export function notAdmitted(refusal: HoldRefusal) {
  switch (refusal.reason) {
    case 'insufficient_balance':
      return phoneErrors.callNotCovered(
        refusal.availableRaw.toString(),
        refusal.requiredRaw.toString(),
      );
    case 'cap_exceeded':
      return phoneErrors.callCapped(breachSentence(refusal.breach), breachFields(refusal));
    case 'host_not_allowlisted':
    case 'vendor_not_allowlisted':
      return refuseSpend(refusal);
    case 'delegation_expired':
      return phoneErrors.creditLineExpired();
    case 'agent_suspended':
      return phoneErrors.callerSuspended();
    default:
      return phoneErrors.callerNotActive();
  }
}
