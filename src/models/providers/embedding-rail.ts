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

/** As much of a request as a rail may have to understand; whatever else came with it is there too. */
export type EmbeddingParameters = Json & {
  readonly input: EmbeddingInput;
  readonly encoding_format?: VectorEncoding | null | undefined;
  readonly dimensions?: number | null | undefined;
};

/** One embeddings request to one upstream. */
export type EmbeddingCall = {
  /** Agent of the request. The engines of this process serve agents in turn. */
  readonly agentId?: number;
  /** The upstream's own name of the model. */
  readonly model: string;
  /** The name that the answer gives the model; without one it is the upstream's. */
  readonly servedAs?: string | undefined;
  /** Payment of a call that is not billed to an account of this server. */
  readonly paymentMethod?: PaymentMethod | undefined;
  /** The caller's request as it came; a rail changes the model's name and nothing else. */
  readonly body: EmbeddingParameters;
};

/** A list of vectors in the encoding that the caller requested. */
export type EmbeddingList = {
  readonly body: Uint8Array;
  readonly contentType: string;
  /** Null: the upstream did not say, and the gateway has to estimate. */
  readonly promptTokens: number | null;
};

/** Why a request is none for a source, and the parameter that makes it so. */
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
