import type { DeliveryStatus } from '../../../machines/webhook-delivery.ts';

/** A delivery as its owner reads it. */
export type LoggedDelivery = {
  readonly id: bigint;
  readonly deliveryId: string;
  readonly webhookId: number;
  /** Null: the webhook is deleted. */
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

/** One delivery with what was sent and what came back. */
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
  /** A delivery id or a correlation id. */
  readonly id?: string | undefined;
  /** Older than this row. */
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

/** A request to send again what has failed at an endpoint in a span of time, and how far it has come. */
export type Recovery = {
  readonly id: number;
  readonly webhookId: number;
  readonly since: Date;
  readonly until: Date;
  /** Deliveries that were put into the queue again. */
  readonly requeued: number;
  readonly createdAt: Date;
  readonly finishedAt: Date | null;
};
