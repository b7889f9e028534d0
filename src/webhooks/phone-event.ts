import type { EventRow } from '../ledger/rules/companion.ts';

type RentedNumber = {
  readonly id: number;
  readonly accountId: string;
  readonly agentWallet: string | null;
  readonly phoneNumber: string;
};

/** Builds `phone.number.grace`, for a number whose monthly rent could not be paid. The number works until `graceUntil`. */
export const numberInGrace = (
  number: RentedNumber & { readonly monthlyRentalRaw: bigint },
  graceUntil: Date,
): EventRow =>
  numberEvent('phone.number.grace', number, {
    graceUntil: graceUntil.toISOString(),
    monthlyRentalRaw: number.monthlyRentalRaw.toString(),
  });

/** Builds `phone.number.released`, for a number that was given back, with the reason. */
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

/** Difference between a carrier's record and the amount that a call was billed by. */
export type CarrierTripwire = {
  /** `carrier_price`: price of the call in raw USDC. `carrier_duration`: duration of the call in seconds. */
  readonly tripwire: 'carrier_price' | 'carrier_duration';
  /** Value that the call was billed by. */
  readonly expected: string;
  /** Value in the carrier's record. */
  readonly observed: string;
};

/** Builds `marketplace.tripwire.triggered` for a call. The event changes no charge. */
export const carrierTripped = (
  call: {
    readonly callId: string;
    readonly accountId: string;
    readonly agentWallet: string | null;
  },
  { expected, observed, tripwire }: CarrierTripwire,
): EventRow => ({
  name: 'marketplace.tripwire.triggered',
  accountId: call.accountId,
  agentWallet: call.agentWallet,
  correlationId: call.callId,
  payload: {
    agentWalletAddress: call.agentWallet,
    tripwire,
    expected,
    observed,
    callId: call.callId,
  },
});
