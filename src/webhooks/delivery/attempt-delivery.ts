import { MOST_ATTEMPTS, planDelivery } from '../../../machines/webhook-delivery.ts';
import { envelopeOf } from '../envelope.ts';
import { WEBHOOK_LIMITS } from '../limits.ts';
import type { AttemptOutcome, ClaimedDelivery } from './queue-store.ts';
import { type SignedSendDeps, sendSigned } from './send-signed.ts';

/** Sends a claimed delivery once, signed with the current time, and returns the outcome. */
export async function attemptDelivery(
  deps: SignedSendDeps,
  delivery: ClaimedDelivery,
): Promise<AttemptOutcome> {
  const { deliveryId, event, firedAt, payload, position } = delivery;
  const body = JSON.stringify(envelopeOf({ name: event, payload, position, createdAt: firedAt }));
  const { error, responseBody, statusCode } = await sendSigned(deps, delivery, {
    body,
    deliveryId,
  });
  const attempt = Math.min(delivery.attempt + 1, MOST_ATTEMPTS);
  const status = planDelivery(delivery.status, eventOf(error, statusCode, attempt));
  const retryAfterMs = WEBHOOK_LIMITS.attempt.retryAfterMs[attempt - 1] ?? 0;
  return {
    id: delivery.id,
    webhookId: delivery.webhookId,
    claimedUntil: delivery.dueAt,
    status,
    attempt,
    statusCode,
    error,
    responseBody,
    nextAt: status === 'retrying' ? new Date(deps.now() + retryAfterMs) : null,
  };
}

function eventOf(error: string | null, statusCode: number | null, attempt: number) {
  if (error === null) return { type: 'attempt.succeeded' } as const;
  if (statusCode === 410) return { type: 'endpoint.gone' } as const;
  return { type: 'attempt.failed', attempt } as const;
}
