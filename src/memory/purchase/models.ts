import type { StopSignal } from '../../kernel/stop-signal.ts';
import type { Spender } from '../../ledger/rules/requests.ts';
import type { Span } from '../../platform/tracing/span.ts';

/** Spender of a purchase, and the fields that every purchase needs. */
export type Purchase = {
  readonly spender: Spender;
  /** Id of the purchase's hold. */
  readonly workId?: string | undefined;
  readonly signal: StopSignal;
  /** Counts the request as a request to the pool. Throws the 429. */
  readonly admitPooled?: (() => Promise<void> | undefined) | undefined;
  /** Trace span of the work that the purchase is for. Undefined when that work is not traced. */
  readonly span?: Span | undefined;
};

/** Cost of a purchase, as the ledger has it. */
export type PurchaseCost = {
  readonly costRaw: bigint;
  /** Payment of the provider: by the pool, or by the developer's own provider key. */
  readonly payment: 'gateway' | 'byok';
  /** Headers of the receipt. Names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Milliseconds that the upstreams took to answer. */
  readonly upstreamMs: number;
};

/** Thrown when a model's upstream refused the request itself. Nothing was charged. */
export class ModelRefused extends Error {
  override readonly name = 'ModelRefused';
  readonly status: number;

  constructor(status: number) {
    super(`the model's provider answered ${status}`);
    this.status = status;
  }
}

/**
 * The models that the memory store buys from. `keep` gets the result before it is charged; when `keep` rejects, nothing is
 * charged and its error is thrown. Each method throws the gateway's refusals, and ModelRefused.
 */
export interface Models {
  /** Embeds texts: one vector per text, in order, each of length 1 and all with the same number of dimensions. */
  embed(
    purchase: Purchase & { readonly model: string; readonly texts: readonly string[] },
    keep: (vectors: readonly Float32Array[]) => Promise<void>,
  ): Promise<PurchaseCost>;
  /** Requests the text of one answer. */
  answer(
    purchase: Purchase & {
      readonly model: string;
      readonly system: string;
      readonly prompt: string;
      readonly maxTokens: number;
    },
    keep: (text: string) => Promise<void>,
  ): Promise<PurchaseCost>;
}
