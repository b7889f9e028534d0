import type { DeliveryStatus } from '../../../machines/webhook-delivery.ts';

/** A delivery in the log of its account. */
export type LoggedDelivery = {
  readonly id: bigint;
  readonly deliveryId: string;
  readonly webhookId: number;
  /** URL of the webhook; null when the webhook was deleted. */
  readonly webhookUrl: string | null;
  readonly event: string;
  readonly agentWallet: string | null;
  readonly correlationId: string | null;
  readonly status: DeliveryStatus;
  readonly attempt: number;
  readonly statusCode: number | null;
  readonly error: string | null;
  readonly createdAt: Date;
};

/** A delivery with the event that was sent and the response of the endpoint. */
export type DeliveryDetail = LoggedDelivery & {
  readonly eventId: bigint | null;
  readonly responseBody: string | null;
  readonly dueAt: Date | null;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly position: bigint | null;
  readonly firedAt: Date;
};

/** Filter of a delivery log. Undefined members filter nothing. */
export type LogFilter = {
  readonly endpoint?: number | undefined;
  readonly event?: string | undefined;
  readonly agent?: string | undefined;
  readonly status?: DeliveryStatus | undefined;
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
  /** Id of a delivery, or correlation id of its event. */
  readonly id?: string | undefined;
  /** Upper bound, exclusive, of the rows' ids: only older rows are returned. */
  readonly beforeId?: bigint | undefined;
};

/** A manual delivery that was attempted once, with its outcome. */
export type TriedDelivery = {
  readonly deliveryId: string;
  readonly webhookId: number;
  readonly accountId: string;
  readonly event: string;
  readonly eventId: bigint | null;
  readonly agentWallet: string | null;
  readonly correlationId: string | null;
  readonly payload: Readonly<Record<string, unknown>> | null;
  readonly status: DeliveryStatus;
  readonly statusCode: number | null;
  readonly error: string | null;
  readonly responseBody: string | null;
};

/** A request to send an endpoint's failed deliveries of a period again, and its progress. */
export type Recovery = {
  readonly id: number;
  readonly webhookId: number;
  readonly since: Date;
  readonly until: Date;
  /** Number of failed deliveries that were queued again. */
  readonly requeued: number;
  readonly createdAt: Date;
  readonly finishedAt: Date | null;
};
