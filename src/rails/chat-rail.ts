/**
 * One chat request, bought from one upstream. A rail speaks an upstream's dialect and knows nothing of
 * money: it says what came back and what the upstream metered, and the gateway decides what follows.
 */

export type ChatCall = {
  readonly agentId: number;
  /** What is set aside for this very request. */
  readonly heldRaw: bigint;
  /** The upstream's own name of the model. */
  readonly model: string;
  /** The caller's request as it came; a rail changes the model's name and nothing else. */
  readonly body: Readonly<Record<string, unknown>>;
};

export type TokenUsage = {
  /** All prompt tokens, the cached ones included. */
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
};

export type ChatFailure =
  /** 5xx, or an answer that is none (a redirect, a 2xx without a completion in it). */
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

export type ChatOutcome =
  | {
      readonly kind: 'completed';
      readonly status: number;
      readonly body: Uint8Array;
      readonly contentType: string;
      /** Null: the upstream did not say, and the gateway has to estimate. */
      readonly usage: TokenUsage | null;
      /** Length of everything the model wrote, for that estimate. */
      readonly answerChars: number;
    }
  /** The upstream refused the request itself; another source would refuse it too. */
  | {
      readonly kind: 'declined';
      readonly status: number;
      readonly body: Uint8Array;
      readonly contentType: string;
    }
  | {
      readonly kind: 'failed';
      readonly failure: ChatFailure;
      readonly status: number | null;
      readonly detail: string;
      readonly retryAfterSeconds: number | null;
    }
  /** The request is beyond what this engine takes. */
  | { readonly kind: 'unfit'; readonly detail: string }
  | { readonly kind: 'aborted' };

/** Never rejects for what an upstream does. Stops buying as soon as `signal` fires. */
export interface ChatRail {
  complete(call: ChatCall, signal: AbortSignal): Promise<ChatOutcome>;
}

export const failed = (
  failure: ChatFailure,
  detail: string,
  status: number | null = null,
  retryAfterSeconds: number | null = null,
): ChatOutcome => ({ kind: 'failed', failure, status, detail, retryAfterSeconds });
