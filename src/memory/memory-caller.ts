import type { Spender } from '../ledger/rules/requests.ts';
import type { Span } from '../platform/tracing/span.ts';

/** Agent that owns the store, and the fields of its request that a purchase needs. */
export type MemoryCaller = {
  readonly agentId: number;
  /** Spender of purchases. When it is absent, the agent itself pays, without a key. */
  readonly spender?: Spender | undefined;
  /** True when the caller's key may not spend. */
  readonly isReadOnly?: boolean | undefined;
  /** Names the work under an `Idempotency-Key`: the hold of a query's purchase, and the written items. */
  readonly workId?: string | undefined;
  /** Counts a query with a purchase as a request to the pool of models. Throws the 429. */
  readonly admitPooled?: (() => Promise<void> | undefined) | undefined;
  /** Trace span of the request. Undefined when the request is not traced. */
  readonly span?: Span | undefined;
};

export const spenderOf = ({ agentId, spender }: MemoryCaller): Spender => spender ?? { agentId };
