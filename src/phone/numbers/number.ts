import type { NumberStatus } from '../../../machines/phone-number.ts';
import type { CarrierName } from '../carriers/carrier.ts';

export const RELEASE_REASONS = ['developer_release', 'non_payment', 'agent_winddown'] as const;
export type ReleaseReason = (typeof RELEASE_REASONS)[number];

/** Key and tags of the purchase of a number, for its charges. */
export type PurchaseTags = {
  readonly keyId: number | null;
  readonly taskId: string | null;
  readonly actionId: string | null;
  readonly customerId: string | null;
};

/** A number that an agent rents, has rented, or is purchasing. */
export type PhoneNumber = PurchaseTags & {
  readonly id: number;
  readonly agentId: number;
  readonly accountId: string;
  /** Address of the agent's wallet in lower case. Null until the agent is provisioned. */
  readonly agentWallet: string | null;
  readonly carrier: CarrierName;
  /** The carrier's id of the number. Null until the carrier has sold it. */
  readonly carrierNumberId: string | null;
  readonly phoneNumber: string;
  readonly areaCode: string | null;
  readonly status: NumberStatus;
  readonly monthlyRentalRaw: bigint;
  /** Id of the purchase and of the hold for the first month. The carrier stores it with the number. */
  readonly purchaseId: string;
  readonly paidMonths: number;
  readonly nextRenewalAt: Date | null;
  readonly graceUntil: Date | null;
  readonly releasedAt: Date | null;
  readonly releaseReason: ReleaseReason | null;
  readonly createdAt: Date;
};

/** Returns a number as every route shows it. Some clients read `id` and `phoneNumber`, others `numberId` and `number`. */
export const numberRecord = (number: PhoneNumber) => ({
  id: number.id,
  numberId: number.id,
  phoneNumber: number.phoneNumber,
  number: number.phoneNumber,
  status: number.status,
  areaCode: number.areaCode,
  monthlyRentalRaw: number.monthlyRentalRaw.toString(),
  nextRenewalAt: number.nextRenewalAt?.toISOString() ?? null,
  graceUntil: number.graceUntil?.toISOString() ?? null,
  releasedAt: number.releasedAt?.toISOString() ?? null,
  releaseReason: number.releaseReason,
  createdAt: number.createdAt.toISOString(),
});

/** Returns the prefix of the target URLs of a number's charges: of its rental, and of its calls. */
export const targetOf = (phoneNumber: string): string => `phone://${phoneNumber}/`;
