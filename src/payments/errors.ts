import type { Fields } from '../kernel/api-error.ts';
import { MAY_RETRY, mayRetryAfter, NO_RETRY, notConfigured, refusal } from '../kernel/refusal.ts';

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

/** Refusals of transfers between developers and agents. */
export const transferErrors = {
  notFound: () => refusal(404, 'not_found', 'This account has no such transfer.'),
  fieldMissing: (field: string, direction: string) =>
    refusal(400, 'invalid_request', `A transfer ${direction} needs \`${field}\`.`, {
      param: field,
    }),
  invalidDestination: (message: string) => refusal(400, 'invalid_destination', message),
  agentClosed: () =>
    refusal(
      409,
      'agent_closed',
      'This agent is closed: its balance goes to the developer by itself. Use another agent.',
      {},
      NO_RETRY,
    ),
  /** Refuses what the balance would cover, but deposits do not. */
  exceedsUserBalance: (amountRaw: bigint, withdrawableRaw: bigint) =>
    refusal(
      400,
      'withdrawal_exceeds_user_balance',
      `Deposits back ${withdrawableRaw} of the balance and ${amountRaw} was asked for; credit can be spent here and never withdrawn. Ask for ${withdrawableRaw} or less.`,
      { withdrawableRaw: withdrawableRaw.toString() },
    ),
  exceedsAvailable: (amountRaw: bigint, availableRaw: bigint) =>
    refusal(
      400,
      'withdrawal_exceeds_available',
      `${availableRaw} is available and ${amountRaw} was asked for. Ask for less, or wait until work in flight gives back what it holds.`,
      { availableRaw: availableRaw.toString() },
    ),
  insufficientBalance: (amountRaw: bigint, availableRaw: bigint) =>
    refusal(
      409,
      'Insufficient balance',
      `${availableRaw} can be withdrawn now and the transfer moves ${amountRaw}. Nothing was moved; prepare a smaller transfer.`,
      { availableRaw: availableRaw.toString() },
      NO_RETRY,
    ),
  tooManyOpen: (most: number) =>
    refusal(
      409,
      'transfer_limit',
      `This account has ${most} open transfers, as many as it may. Execute them, or wait until they are over.`,
      { max: most },
      NO_RETRY,
    ),
  wrongFlow: (message: string) => refusal(409, 'wrong_flow', message, {}, NO_RETRY),
  over: (state: string) =>
    refusal(
      409,
      'transfer_over',
      `This transfer is ${state}. Prepare another one.`,
      { status: state },
      NO_RETRY,
    ),
  transactionMismatch: () =>
    refusal(
      400,
      'transaction_mismatch',
      'This transaction does not move the amount of the transfer from its sender to its recipient. Report the right one.',
    ),
  transactionUsed: () =>
    refusal(
      409,
      'transaction_used',
      'This transaction was reported for another transfer. Report the right one.',
      {},
      NO_RETRY,
    ),
  unavailable: () =>
    notConfigured(
      'transfers_unavailable',
      'This server cannot move USDC out of the wallets of agents.',
      'RPC_URL, FACILITATOR_PRIVATE_KEY and the MANAGED_WALLET variables',
    ),
};

/** Refusals of the on- and off-ramp. */
export const rampErrors = {
  notConfigured: () =>
    notConfigured(
      'onramp_not_configured',
      'This server has no provider that changes money into USDC and back.',
      'ONRAMP_KEY_ID and ONRAMP_KEY_SECRET',
    ),
  unavailable: () =>
    refusal(
      502,
      'onramp_unavailable',
      'The provider did not answer as expected; nothing was changed. Try again shortly.',
      {},
      MAY_RETRY,
    ),
  busy: () =>
    refusal(
      503,
      'capacity',
      'Too many requests wait for the provider; try again shortly.',
      {},
      mayRetryAfter(1),
    ),
  foreignDestination: () =>
    refusal(
      403,
      'foreign_destination',
      'A purchase goes to the wallet of the developer alone. Name that wallet as `destinationAddress`.',
    ),
  custodialDestination: () =>
    refusal(
      403,
      'custodial_destination',
      'This is the wallet of an agent, which this server keeps; a purchase goes to the wallet of the developer first.',
    ),
  clientUnknown: () =>
    refusal(
      400,
      'client_address_unknown',
      'The provider needs the address of the client, and the connection does not show it.',
    ),
  sessionNotFound: () =>
    refusal(404, 'not_found', 'This account has no such session of the on-ramp.'),
  orderNotFound: () => refusal(404, 'not_found', 'This account has no such order.'),
  wrongStatus: (state: string, message: string) =>
    refusal(409, 'wrong_status', message, { status: state }, NO_RETRY),
  tooManyOrders: (most: number) =>
    refusal(
      409,
      'order_limit',
      `This account has ${most} open orders, as many as it may. Cancel one, or wait until one is over.`,
      { max: most },
      NO_RETRY,
    ),
  invalidCursor: () =>
    refusal(400, 'invalid_cursor', 'The cursor is not one that a page of this list ended with.'),
};
