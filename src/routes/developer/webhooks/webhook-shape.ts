import { z } from 'zod';
import type { ManualDelivery } from '../../../webhooks/delivery/deliveries.ts';
import type { LoggedDelivery, Recovery } from '../../../webhooks/delivery/delivery.ts';
import { WEBHOOK_SCOPES } from '../../../webhooks/delivery/webhook.ts';
import { WEBHOOK_LIMITS } from '../../../webhooks/limits.ts';

const { descriptionChars, maxPerSecond, urlChars } = WEBHOOK_LIMITS.endpoint;

/** Id of a webhook from the path: 1 to 9 digits. */
export const WebhookParams = z.object({
  id: z
    .string()
    .regex(/^\d{1,9}$/, 'must be a number')
    .transform(Number),
});

export const webhookRequest = {
  url: z.string().min(1).max(urlChars),
  /** Validated by the use case, which has one error for a missing and for any invalid member. */
  events: z
    .unknown()
    .optional()
    .meta({ type: 'array', items: { type: 'string' } }),
  description: z.string().max(descriptionChars).nullish(),
  maxPerSecond: z.int().min(1).max(maxPerSecond).nullish(),
};

export const WebhookRecord = z.object({
  id: z.number(),
  url: z.string(),
  events: z.array(z.string()),
  scope: z.enum(WEBHOOK_SCOPES),
  scopeValue: z.string().nullable(),
  active: z.boolean(),
  inactiveReason: z.string().nullable(),
  maxPerSecond: z.number().nullable(),
  description: z.string().nullable(),
  createdAt: z.string(),
});

const STATUSES = ['pending', 'success', 'failed', 'retrying'] as const;

const delivery = {
  id: z.number(),
  deliveryId: z.string(),
  event: z.string(),
  statusCode: z.number().nullable(),
  status: z.enum(STATUSES),
  attempt: z.number(),
  error: z.string().nullable(),
  createdAt: z.string(),
};

export const DeliveryRecord = z.object(delivery);

export const LogRecord = z.object({
  ...delivery,
  webhookId: z.number(),
  webhookUrl: z.string().nullable(),
  agentWallet: z.string().nullable(),
  correlationId: z.string().nullable(),
});

export const deliveryRecord = (row: LoggedDelivery): z.output<typeof DeliveryRecord> => ({
  id: Number(row.id),
  deliveryId: row.deliveryId,
  event: row.event,
  statusCode: row.statusCode,
  status: row.status,
  attempt: row.attempt,
  error: row.error,
  createdAt: row.createdAt.toISOString(),
});

export const logRecord = (row: LoggedDelivery): z.output<typeof LogRecord> => ({
  ...deliveryRecord(row),
  webhookId: row.webhookId,
  webhookUrl: row.webhookUrl,
  agentWallet: row.agentWallet,
  correlationId: row.correlationId,
});

/** Outcome of a test delivery or a manual retry. `statusCode` is absent when the endpoint did not answer. */
export const TriedRecord = z.object({
  success: z.boolean(),
  statusCode: z.number().optional(),
  error: z.string().optional(),
  deliveryId: z.string(),
});

export const triedRecord = ({
  deliveryId,
  error,
  statusCode,
}: ManualDelivery): z.output<typeof TriedRecord> => ({
  success: error === null,
  ...(statusCode !== null && { statusCode }),
  ...(error !== null && { error }),
  deliveryId,
});

export const RecoveryRecord = z.object({
  id: z.number(),
  webhookId: z.number(),
  status: z.enum(['running', 'done']),
  since: z.string(),
  until: z.string(),
  requeued: z.number(),
  createdAt: z.string(),
  finishedAt: z.string().nullable(),
});

export const recoveryRecord = (recovery: Recovery): z.output<typeof RecoveryRecord> => ({
  id: recovery.id,
  webhookId: recovery.webhookId,
  status: recovery.finishedAt === null ? 'running' : 'done',
  since: recovery.since.toISOString(),
  until: recovery.until.toISOString(),
  requeued: recovery.requeued,
  createdAt: recovery.createdAt.toISOString(),
  finishedAt: recovery.finishedAt?.toISOString() ?? null,
});
