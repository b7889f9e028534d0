import { createHmac } from 'node:crypto';
import type { Random } from '../../kernel/random.ts';
import { randomHex } from '../../kernel/random.ts';
import type { Header } from '../../platform/egress/request-headers.ts';

const PREFIX = 'whsec_';

/**
 * Creates a secret: 64 hex digits behind `whsec_`. They are valid base64 of 48 bytes as well, so that one secret serves
 * receivers that use it as text (`X-Svc-Signature`) and receivers that decode it (Standard Webhooks).
 */
export const newWebhookSecret = (random: Random): string => PREFIX + randomHex(random, 32);

/** Secrets that sign a delivery: the current secret, and the previous secret while it is still valid. */
export type SigningSecrets = { readonly current: string; readonly previous?: string | undefined };

/**
 * Returns the headers of one attempt, with which the receiver verifies sender and time. Both schemes sign the body as it is
 * sent.
 */
export function signedHeaders(
  { current, previous }: SigningSecrets,
  delivery: { readonly deliveryId: string; readonly body: string; readonly nowMs: number },
): readonly Header[] {
  const { body, deliveryId, nowMs } = delivery;
  const timestamp = String(Math.floor(nowMs / 1_000));
  const signed = `${timestamp}.${body}`;
  const standard = (secret: string) =>
    `v1,${createHmac('sha256', standardKey(secret)).update(`${deliveryId}.${signed}`).digest('base64')}`;
  return [
    ['Content-Type', 'application/json'],
    ['X-Svc-Signature', createHmac('sha256', current).update(signed).digest('hex')],
    ['X-Svc-Timestamp', timestamp],
    ['X-Svc-Delivery-Id', deliveryId],
    ['webhook-id', deliveryId],
    ['webhook-timestamp', timestamp],
    [
      'webhook-signature',
      previous === undefined ? standard(current) : `${standard(current)} ${standard(previous)}`,
    ],
  ];
}

const standardKey = (secret: string): Buffer => Buffer.from(secret.slice(PREFIX.length), 'base64');
