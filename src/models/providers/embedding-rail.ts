import type { Json } from '../../kernel/json.ts';
import type { StopSignal } from '../../kernel/stop-signal.ts';
import type { Outcome } from './outcome.ts';
import type { PaymentMethod } from './payment-method.ts';

/** One text, one list of tokens, or several of either. */
export type EmbeddingInput =
  | string
  | readonly string[]
  | readonly number[]
  | readonly (readonly number[])[];

/** Encoding of a vector: numbers, or little-endian 32-bit floats in base64. */
export type VectorEncoding = 'float' | 'base64';

/** Members of a request that a rail may have to read. All other members of the request are kept as well. */
export type EmbeddingParameters = Json & {
  readonly input: EmbeddingInput;
  readonly encoding_format?: VectorEncoding | null | undefined;
  readonly dimensions?: number | null | undefined;
};

/** One embeddings request to one upstream. */
export type EmbeddingCall = {
  /** Agent of the request. The engines of this process serve agents in turn. */
  readonly agentId?: number;
  /** Name of the model at the upstream. */
  readonly model: string;
  /** Name of the model in the answer. Undefined: the upstream's name. */
  readonly servedAs?: string | undefined;
  /** Payment of a call that is not billed to an account of this server. */
  readonly paymentMethod?: PaymentMethod | undefined;
  /** The caller's request, unchanged. A rail replaces the model's name only. */
  readonly body: EmbeddingParameters;
};

/** A list of vectors in the encoding that the caller requested. */
export type EmbeddingList = {
  readonly body: Uint8Array;
  readonly contentType: string;
  /** Prompt tokens that the upstream reports. Null when the upstream reported none, so that the gateway estimates. */
  readonly promptTokens: number | null;
};

/** Reason why a source cannot serve a request, with the parameter that causes it. */
export type Misfit = { readonly detail: string; readonly param: string };

/** A way to embeddings at one upstream. Failures of the upstream are outcomes and not rejections; `signal` ends the request. */
export interface EmbeddingRail {
  /** Returns the reason why this source cannot serve the request. Known before anything is held or sent. */
  misfit(wanted: EmbeddingParameters): Misfit | undefined;
  embed(call: EmbeddingCall, signal: StopSignal): Promise<Outcome<EmbeddingList>>;
}

/** Number of vectors that an input asks for. */
export const countInputs = (input: EmbeddingInput): number =>
  typeof input === 'string' || typeof input[0] === 'number' ? 1 : input.length;
