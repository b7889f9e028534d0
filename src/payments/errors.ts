import type { Fields } from '../kernel/api-error.ts';
import { MAY_RETRY, mayRetryAfter, NO_RETRY, refusal } from '../kernel/refusal.ts';

export type ChallengeFault = 'invalid_base64' | 'invalid_json' | 'no_compatible_requirement';

/** Refusals of the paid proxy, of its preflights and of its forecasts. */
export const proxyErrors = {
  blockedDestination: (detail: string) => refusal(400, 'blocked_destination', detail),
  /** Refuses a call by a control. On the proxy every control has one code; `code` names the kind of policy. */
  spendLimitExceeded: (message: string, fields: Fields) =>
    refusal(402, 'spend_limit_exceeded', message, fields),
  /**
   * Refuses a payment when the balance or the agent's wallet holds less than the amount. `available` is the lesser of the two.
   */
  insufficientBalance: (available: string, required: string) =>
    refusal(
      402,
      'insufficient_balance',
      'The balance, or what the wallet of the agent holds and has not promised, does not cover this. Send USDC to the wallet: credit that no deposit backs pays no vendor.',
      {
        available,
        required,
        next: {
          hint: 'See the balance and the address of the wallet',
          method: 'GET',
          path: '/v1/agents/balance',
        },
      },
    ),
  tooManyCalls: (most: number, limitPerMinute: number) =>
    refusal(
      429,
      'rate_limit_exceeded',
      `This agent has ${most} calls under way, as many as it may; try again when one has ended.`,
      {
        reason: 'agent_proxy_limit',
        retry_after_seconds: 1,
        limit_per_minute: limitPerMinute,
        remaining: 0,
        limit: most,
      },
      mayRetryAfter(1),
    ),
  unreachable: (detail: string) =>
    refusal(502, 'Failed to reach target URL', detail, {}, MAY_RETRY),
  /** Refusal when the caller's own headers leave no space for the payment: the same request can never be paid. */
  uncarriable: (detail: string) => refusal(502, 'Failed to reach target URL', detail, {}, NO_RETRY),
  responseTooLarge: (limitBytes: number) =>
    refusal(
      502,
      'upstream_response_too_large',
      `The vendor's answer has more than ${limitBytes} bytes.`,
      { limit_bytes: limitBytes },
      NO_RETRY,
    ),
  unreadableChallenge: (code: ChallengeFault, detail: string) =>
    refusal(502, 'Failed to parse PAYMENT-REQUIRED header', detail, { code }, NO_RETRY),
  challengeMissing: () =>
    refusal(
      502,
      '402 response missing PAYMENT-REQUIRED header',
      'The vendor demands a payment and does not say which.',
      {},
      NO_RETRY,
    ),
  walletMissing: () =>
    refusal(
      503,
      'agent_wallet_not_configured',
      'This agent has no wallet to pay from.',
      {},
      NO_RETRY,
    ),
  breakerActive: (detail: string) =>
    refusal(503, 'circuit_breaker_active', detail, {}, mayRetryAfter(60)),
  breakerStale: (detail: string) =>
    refusal(503, 'circuit_breaker_stale', detail, {}, mayRetryAfter(15)),
  signingFailed: () =>
    refusal(
      500,
      'Payment signing failed',
      'The wallet did not sign the payment; nothing was paid. Try again shortly.',
      {},
      MAY_RETRY,
    ),
  persistenceFailed: () =>
    refusal(
      500,
      'Reservation persistence failed',
      'The payment could not be written down, so nothing of it was sent. Try again shortly.',
      {},
      MAY_RETRY,
    ),
  reservationNotFound: () => refusal(404, 'not_found', 'This agent has no such reservation.'),
  invalidCursor: () =>
    refusal(400, 'invalid_cursor', 'The cursor is not one that a page of this list ended with.'),
  preflightFailed: (detail: string) => refusal(502, 'preflight_failed', detail, {}, MAY_RETRY),
  forecastFailed: (detail: string) => refusal(502, 'forecast_failed', detail, {}, MAY_RETRY),
  /** Refuses to release an undecided reservation: only evidence on chain releases money that was signed away. */
  reservationUndecided: (detail: string, state: string) =>
    refusal(409, 'reservation_undecided', detail, { state }, NO_RETRY),
  /** Refuses to release a reservation whose payment the chain shows. */
  reservationSettled: (record: Fields) =>
    refusal(
      409,
      'reservation_settled',
      'The chain shows that this payment was made; it is settled and cannot be released.',
      record,
      NO_RETRY,
    ),
};
