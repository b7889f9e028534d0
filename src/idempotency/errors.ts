import { NO_RETRY, refusal } from '../kernel/refusal.ts';

/** Refusals of a request whose `Idempotency-Key` was used before. */
export const idempotencyErrors = {
  inFlight: (key: string) =>
    refusal(
      409,
      'request_in_flight',
      'A request with this Idempotency-Key is under way; ask again later, or with another key.',
      { idempotency_key: key },
      NO_RETRY,
    ),
  keyReused: (key: string, first: string) =>
    refusal(
      409,
      'idempotency_key_reused',
      `This Idempotency-Key was used for ${first}; another request needs another key.`,
      { idempotency_key: key },
      NO_RETRY,
    ),
  notReplayable: (key: string) =>
    refusal(
      409,
      'response_not_replayable',
      'The request with this Idempotency-Key was carried out, but its answer was too long to keep or broke off.',
      { idempotency_key: key },
      NO_RETRY,
    ),
  paidButLost: (work: { hold: string; chargedRaw: string }) =>
    refusal(
      502,
      'upstream_paid_request_failed_ambiguous',
      'The request was paid for, but the server was lost before its answer was kept. It is not sent again.',
      { hold: work.hold, charged: work.chargedRaw },
      NO_RETRY,
    ),
};
