import type { ApiError } from '../../kernel/api-error.ts';
import type { StopSignal } from '../../kernel/stop-signal.ts';
import type { HoldRefusal, Spender } from '../../ledger/rules/requests.ts';
import type { GuardedAnswer } from '../../platform/egress/exchange.ts';
import type { Header } from '../../platform/egress/request-headers.ts';
import type { RailFailure } from './outcome.ts';

/** Payer of one request to an upstream, and the limit of the payment. */
export type PaymentBudget = {
  readonly spender: Spender;
  /** Maker of the model, by which spend controls identify the payee. */
  readonly maker: string;
  readonly mostRaw: bigint;
  /** Id for the hold of the payment. */
  readonly holdId: string;
};

export type PaidRequest = PaymentBudget & {
  readonly url: string;
  readonly headers: readonly Header[];
  readonly body: string | Uint8Array;
  readonly firstByteMs: number;
  readonly idleMs: number;
  readonly totalMs: number;
  readonly responseBytes: number;
  /** Fires when the client leaves. Before the payment it ends the request; after the payment it has no effect. */
  readonly signal: StopSignal;
};

/** Keys for looking up a payment that was signed and sent. */
export type PaymentRef = {
  readonly nonce: string;
  readonly validBefore: number;
  readonly paidRaw: bigint;
};

export type PaidOutcome =
  /** The upstream answered. `payment` is undefined when the upstream requested none. */
  | {
      readonly kind: 'answered';
      readonly answer: GuardedAnswer;
      readonly payment: PaymentRef | undefined;
    }
  /** No payment was signed. */
  | { readonly kind: 'unpaid'; readonly failure: RailFailure; readonly detail: string }
  | { readonly kind: 'unaffordable'; readonly refusal: HoldRefusal }
  | { readonly kind: 'aborted' }
  /** A payment was signed and no answer came. No other source may be paid for the same request. */
  | { readonly kind: 'spent'; readonly refusal: ApiError };

/** Sends requests that are paid one by one. */
export interface PaidCalls {
  /**
   * Sends a request and pays for it. Signs at most one authorization per request, for up to `mostRaw`. Rejects only for a bug.
   */
  send(request: PaidRequest): Promise<PaidOutcome>;
}
