import type { EventRow } from '../ledger/rules/companion.ts';

type RentedNumber = {
  readonly id: number;
  readonly accountId: string;
  readonly agentWallet: string | null;
  readonly phoneNumber: string;
};

/** `phone.number.grace`: a month could not be paid; the number works until `graceUntil`. */
export const numberInGrace = (
  number: RentedNumber & { readonly monthlyRentalRaw: bigint },
  graceUntil: Date,
): EventRow =>
  numberEvent('phone.number.grace', number, {
    graceUntil: graceUntil.toISOString(),
    monthlyRentalRaw: number.monthlyRentalRaw.toString(),
  });

/** `phone.number.released`: the number is given back, and why. */
export const numberReleased = (number: RentedNumber, releaseReason: string): EventRow =>
  numberEvent('phone.number.released', number, { releaseReason });

const numberEvent = (
  name: string,
  number: RentedNumber,
  more: Readonly<Record<string, unknown>>,
): EventRow => ({
  name,
  accountId: number.accountId,
  agentWallet: number.agentWallet,
  correlationId: null,
  payload: {
    agentWalletAddress: number.agentWallet,
    numberId: number.id,
    phoneNumber: number.phoneNumber,
    ...more,
  },
});
