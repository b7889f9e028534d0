import type { HttpAnswer } from '../http/route/answer.ts';
import type { AgentCaller, DeveloperCaller } from '../http/route/caller.ts';
import type { ApiError } from '../kernel/api-error.ts';

/** A request with an `Idempotency-Key`. */
export type KeyedRequest = {
  readonly caller: AgentCaller | DeveloperCaller;
  readonly key: string;
  readonly method: string;
  readonly path: string;
  /** Id of the work. Absent: a new id. */
  readonly workId?: string | undefined;
  /** Renders a refusal in the format of the request's route. */
  readonly render: (refusal: ApiError) => HttpAnswer;
  /** Returns the answer of lost work, as the request's route renders it. Undefined: only the ledger knows the work. */
  readonly recall?: ((workId: string) => Promise<HttpAnswer | undefined>) | undefined;
};

/**
 * Stores answers under their `Idempotency-Key`. `begin` throws the refusal of a key that is in flight; otherwise it returns the
 * first answer or reserves the key for this request.
 */
export interface IdempotencyStore {
  begin(request: KeyedRequest): Promise<IdempotencyVerdict>;
}

export type IdempotencyVerdict =
  | { readonly kind: 'replay'; readonly answer: HttpAnswer }
  | FreshWork;

/**
 * Verdict for a request that got the key. The caller must call `store` or `abandon` once; neither function rejects or waits for
 * long.
 */
export type FreshWork = {
  readonly kind: 'fresh';
  /** Id of the work. Its holds have this id, so that they are found if this process dies. */
  readonly workId: string;
  /** Keeps the answer and returns it; a streamed answer is kept while it is read. */
  store(answer: HttpAnswer): Promise<HttpAnswer>;
  /** Frees the key again, because nothing was decided. */
  abandon(): Promise<void>;
};
