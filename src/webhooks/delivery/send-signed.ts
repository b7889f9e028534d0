import type { OpenSecrets } from './open-secrets.ts';
import type { Attempt, SendDelivery } from './send-delivery.ts';
import { signedHeaders } from './sign-delivery.ts';

export type SignedSendDeps = {
  readonly send: SendDelivery;
  readonly openSecrets: OpenSecrets;
  readonly now: () => number;
};

const NOT_SENT: Attempt = {
  statusCode: null,
  error: 'The signing secret cannot be read any more: rotate it',
  responseBody: null,
};

/** Signs a delivery with the current time and sends it once. Sends nothing when no secret can be decrypted. */
export async function sendSigned(
  { now, openSecrets, send }: SignedSendDeps,
  webhook: Parameters<OpenSecrets>[0] & { readonly url: string },
  { body, deliveryId }: { readonly body: string; readonly deliveryId: string },
): Promise<Attempt> {
  const secrets = openSecrets(webhook);
  if (secrets === undefined) return NOT_SENT;
  return send(webhook.url, signedHeaders(secrets, { deliveryId, body, nowMs: now() }), body);
}
