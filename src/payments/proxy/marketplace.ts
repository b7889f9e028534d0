import type { Spender } from '../../ledger/rules/requests.ts';
import type { Span } from '../../platform/tracing/span.ts';
import type { OutboundRequest } from './outbound-request.ts';

/** A request below the address of the marketplace, and its payer. */
export type MarketCall = OutboundRequest & {
  readonly spender: Spender;
  /** Id of the account that the agent belongs to. */
  readonly accountId: string;
  readonly url: string;
  /** Id that the hold gets. Undefined: the hold gets a new id. */
  readonly workId: string | undefined;
  /** Fires when the client leaves. */
  readonly signal: AbortSignal;
  /**
   * Registers a callback for the end of the request, after its answer was sent or abandoned. Absent: the answer counts as sent
   * at once.
   */
  readonly onOver?: OnOver | undefined;
  /** Parent span of the sale. Undefined when the call is not traced. */
  readonly span?: Span | undefined;
};

export type OnOver = (callback: () => void) => void;

export type MarketAnswer = {
  readonly status: number;
  /** Response headers with names in lower case, including `content-type`. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** Amount that the ledger has charged. */
  readonly costRaw: bigint;
  /**
   * `internal`: sold for a vendor of this server. `gateway` and `byok`: free except for a model's charge, from the pool or with
   * the agent's own key. `passthrough`: free, or an error that cost nothing.
   */
  readonly payment: 'passthrough' | 'internal' | 'gateway' | 'byok';
  /** Milliseconds that the vendors took. */
  readonly upstreamMs: number;
};

/** Price of a call to the marketplace, margin included. */
export type MarketPrice =
  | { readonly kind: 'free' }
  | {
      readonly kind: 'sold';
      readonly priceRaw: bigint;
      /** Quantity that the price is for. Undefined: the price is for the whole call. */
      readonly per?: { readonly quantity: number; readonly unit: 'character' | 'second' | 'page' };
    };

/** The vendors and services that this server sells itself. Its calls need no network and no destination guard. */
export interface Marketplace {
  /** The marketplace's name in spend controls, the same for every spelling of its address. */
  readonly host: string;
  /** Returns true when a URL is below the marketplace's address. */
  matches(url: string): boolean;
  /**
   * Serves a request to the marketplace. Throws refusals by spend controls, and errors that no vendor caused; nothing was
   * charged then. All other outcomes are answers, including the marketplace's own errors.
   */
  call(call: MarketCall): Promise<MarketAnswer>;
  /**
   * Returns the list price of a call; nothing is sent, fetched or charged. A text in the body is counted. Without a
   * text, and for a file, the price is that of the list's quantity (`per`). Throws the refusals of `call`.
   */
  priceOf(call: Pick<MarketCall, 'url' | 'body'>): Promise<MarketPrice>;
}
