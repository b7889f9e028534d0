/**
 * What came of one request to one upstream, whatever was asked for. A rail knows nothing of money: it says what came
 * back and what the upstream metered, and the gateway decides what follows.
 */

export type RailFailure =
  /** 5xx, or an answer that is none (a redirect, a 2xx without what was asked for in it). */
  | 'broken'
  | 'rate_limited'
  | 'unreachable'
  | 'timeout'
  /** More bytes than `LIMITS.upstreamResponseBytes`. */
  | 'oversize'
  /** This process already has as much in flight as it allows itself. */
  | 'busy'
  /** The engine is not part of this installation. */
  | 'missing';

/** The upstream refused the request itself; another source would refuse it too. */
export type Declined = {
  readonly kind: 'declined';
  readonly status: number;
  readonly body: Uint8Array;
  readonly contentType: string;
};

export type Failed = {
  readonly kind: 'failed';
  readonly failure: RailFailure;
  readonly status: number | null;
  readonly detail: string;
  readonly retryAfterSeconds: number | null;
};

/** An upstream has answered with what was asked for: all of it, or its beginning. */
export type Completed<T> = { readonly kind: 'completed'; readonly status: number } & T;

export type Outcome<T> =
  | Completed<T>
  | Declined
  | Failed
  /** The request is beyond what this source takes. */
  | { readonly kind: 'unfit'; readonly detail: string; readonly param?: string }
  | { readonly kind: 'aborted' };

export const failed = (
  failure: RailFailure,
  detail: string,
  status: number | null = null,
  retryAfterSeconds: number | null = null,
): Failed => ({ kind: 'failed', failure, status, detail, retryAfterSeconds });
