import type { ChargeRow } from '../../ledger/rules/companion.ts';
import type { Destination, SettleRequest, Spender } from '../../ledger/rules/requests.ts';
import { type PhoneNumber, targetOf } from './number.ts';

/** Where a rental goes, as spend controls see it. */
export const RENTAL_DESTINATION: Destination = { host: 'phone', payee: null, isOperators: true };

/** What is settled for one month of a number. */
export const rentalOf = (
  number: PhoneNumber,
  spender: Omit<Spender, 'agentId'> = {},
): Omit<SettleRequest, 'hold'> => ({
  actualRaw: number.monthlyRentalRaw,
  account: 'telephony',
  source: number.carrier,
  charges: (chargedRaw) => [rentalCharge(number, spender, chargedRaw)],
});

const rentalCharge = (
  number: PhoneNumber,
  spender: Omit<Spender, 'agentId'>,
  chargedRaw: bigint,
): ChargeRow => ({
  agentId: number.agentId,
  keyId: spender.keyId ?? null,
  targetUrl: `${targetOf(number.phoneNumber)}rental`,
  targetHost: 'phone',
  method: 'POST',
  status: 'success',
  costRaw: chargedRaw,
  model: null,
  rail: null,
  usage: { month: 1 },
  taskId: spender.taskId ?? null,
  actionId: spender.actionId ?? null,
  customerId: spender.customerId ?? null,
  sessionId: null,
  payee: null,
  responseStatusCode: null,
  latencyMs: null,
  overheadMs: null,
  upstreamMs: null,
});
