import type { ApiError } from '../../kernel/api-error.ts';
import type { HoldRefusal } from '../../ledger/rules/requests.ts';
import type { CollectedAnswer } from './openai/collect-answer.ts';

/**
 * Outcome of one request to one upstream, of any kind. A rail knows nothing of money: it returns the upstream's answer and
 * metered usage, and the gateway decides what follows.
 */

export type RailFailure =
  /** Status 5xx, or an unusable answer (a redirect, or a 2xx without the expected content). */
  | 'broken'
  | 'rate_limited'
  | 'unreachable'
  | 'timeout'
  /** The answer has more bytes than `MODEL_LIMITS.upstream.answerBytes`. */
  | 'oversize'
  /** The process has reached its limit of concurrent requests to the upstream. */
  | 'busy'
  /** This installation does not have the engine. */
  | 'missing'
  /** The upstream demands more than the limit of the payment. */
  | 'too_dear'
  /** Neither this server nor the caller's wallet can pay now. */
  | 'unpayable';

/** Headers of an upstream's answer; absent without an answer. Only the retry headers are relayed. */
export type Headed = { readonly headers?: CollectedAnswer['headers'] | undefined };

/** Refusal of the request itself by the upstream. Another source would refuse the request too. */
export type Declined = Headed & {
  readonly kind: 'declined';
  readonly status: number;
  readonly body: Uint8Array;
  readonly contentType: string;
};

export type Failed = Headed & {
  readonly kind: 'failed';
  readonly failure: RailFailure;
  readonly status: number | null;
  readonly detail: string;
  readonly retryAfterSeconds: number | null;
  /** Time to wait in milliseconds, when the upstream reported it in milliseconds. */
  readonly retryAfterMs?: number | undefined;
};

/** The upstream delivered the requested answer, whole or its beginning. */
export type Completed<T> = Headed & {
  readonly kind: 'completed';
  readonly status: number;
  /** Amount paid for this one request. Absent: this server has an account at the upstream. */
  readonly paidRaw?: bigint | undefined;
} & T;

/** Refusal before anything was sent: this source cannot serve the request. */
export type Unfit = { readonly kind: 'unfit'; readonly detail: string; readonly param?: string };

export type Outcome<T> =
  | Completed<T>
  | Declined
  | Failed
  | Unfit
  | { readonly kind: 'aborted' }
  /** The upstream's price is beyond the caller's money, or refused by a spend control. */
  | { readonly kind: 'unaffordable'; readonly refusal: HoldRefusal }
  /** The payment may have been made, and the upstream has not delivered. */
  | { readonly kind: 'spent'; readonly refusal: ApiError };

export const failed = (
  failure: RailFailure,
  detail: string,
  status: number | null = null,
  retryAfterSeconds: number | null = null,
  retryAfterMs?: number,
): Failed => ({
  kind: 'failed',
  failure,
  status,
  detail,
  retryAfterSeconds,
  ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
});
