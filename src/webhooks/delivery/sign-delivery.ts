import { createHmac } from 'node:crypto';
import type { Random } from '../../kernel/random.ts';
import { randomHex } from '../../kernel/random.ts';
import type { Header } from '../../platform/egress/request-headers.ts';

const PREFIX = 'whsec_';

/**
 * 64 hex digits behind `whsec_`: in hex all of them are base64 as well, 48 bytes, so that one secret serves a receiver
 * that takes it as text (`X-Svc-Signature`) and one that decodes it (Standard Webhooks).
 */
export const newWebhookSecret = (random: Random): string => PREFIX + randomHex(random, 32);

/** The secrets that sign a delivery: the one that counts, and the one before it while it still may. */
export type SigningSecrets = { readonly current: string; readonly previous?: string | undefined };

/** The headers of one attempt, which prove to its receiver who sent it and when. Both schemes sign the body as it is. */
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
