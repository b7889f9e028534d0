import { type ChargeRow, chargeRow } from '../../ledger/rules/companion.ts';
import type { Destination, SettleRequest } from '../../ledger/rules/requests.ts';
import { type PhoneNumber, type PurchaseTags, targetOf } from './number.ts';

/** Destination of a rental for spend controls. */
export const RENTAL_DESTINATION: Destination = { host: 'phone', payee: null, isOperators: true };

/** Tags of a monthly rental: no request of an agent caused the charge. */
const UNTAGGED: PurchaseTags = { keyId: null, taskId: null, actionId: null, customerId: null };

/** Returns the settlement of one month of a number, without its hold. */
export const rentalOf = (
  number: PhoneNumber,
  tags: PurchaseTags = UNTAGGED,
): Omit<SettleRequest, 'hold'> => ({
  actualRaw: number.monthlyRentalRaw,
  account: 'telephony',
  source: number.carrier,
  charges: (chargedRaw) => [rentalCharge(number, tags, chargedRaw)],
});

const rentalCharge = (
  { agentId, phoneNumber }: PhoneNumber,
  tags: PurchaseTags,
  costRaw: bigint,
): ChargeRow =>
  chargeRow(
    { ...tags, agentId },
    {
      targetUrl: `${targetOf(phoneNumber)}rental`,
      targetHost: 'phone',
      method: 'POST',
      status: 'success',
      costRaw,
      usage: { month: 1 },
    },
  );
