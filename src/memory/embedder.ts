import { type EmbeddingEngine, EngineBusy, EngineMissing } from '../engines/engine.ts';
import { USE_LITE_DIMENSIONS } from '../engines/text/use-lite.ts';
import { memoryErrors } from './errors.ts';

/** Engine of this process that computes vectors of texts, free of charge. */
export interface Embedder {
  readonly model: string;
  readonly dims: number;
  /** Resolves to one vector of length 1 for each text, in order. Rejects as the engine does. */
  embed(texts: readonly string[], agentId: number): Promise<readonly Float32Array[]>;
  /** Returns a sentence for the log when the engine is not installed; undefined when it is. */
  missing(): string | undefined;
}

/** Returns the embedder of this process's sentence encoder. */
export const localEmbedder = (engines: {
  readonly embedding: { readonly useLite: EmbeddingEngine };
  missing(engine: 'use-lite'): string | undefined;
}): Embedder => ({
  model: 'local/use-lite',
  dims: USE_LITE_DIMENSIONS,
  embed: (texts, agentId) => engines.embedding.useLite.embed(texts, agentId),
  missing: () => engines.missing('use-lite'),
});

/** Way in which texts of a namespace become vectors: an engine of this process, or a model that the agent pays for. */
export type Embedding =
  | { readonly kind: 'local'; readonly embedder: Embedder }
  | { readonly kind: 'bought'; readonly model: string };

export interface Embedders {
  /** Embedding that new namespaces use. */
  readonly usual: Embedding;
  /**
   * Returns the embedding of a namespace that was made with this model. Undefined when this server no longer offers the model.
   */
  of(model: string): Embedding | undefined;
}

/**
 * Returns the embeddings that exist: the engine, and paid models when `sold` offers them. New namespaces use `sold.usual`, or
 * else the engine.
 */
export function embeddersOf(
  embedder: Embedder,
  sold?: { readonly usual?: string | undefined; sells(model: string): boolean },
): Embedders {
  const local: Embedding = { kind: 'local', embedder };
  const of = (model: string): Embedding | undefined => {
    if (model === embedder.model) return local;
    return sold?.sells(model) === true ? { kind: 'bought', model } : undefined;
  };
  const { usual } = sold ?? {};
  return { usual: (usual === undefined ? undefined : of(usual)) ?? local, of };
}

/**
 * Returns the model and vector length of a new namespace. The length of a paid model's vectors is 0 until its first vectors
 * arrive.
 */
export const spaceOf = (embedding: Embedding): { readonly model: string; readonly dims: number } =>
  embedding.kind === 'bought'
    ? { model: embedding.model, dims: 0 }
    : { model: embedding.embedder.model, dims: embedding.embedder.dims };

/** Returns the embedding for a model. Throws `vendor_unavailable` when this server cannot compute vectors of the model. */
export function requireEmbedding(embedders: Embedders, model: string): Embedding {
  const embedding = embedders.of(model);
  if (embedding === undefined) throw memoryErrors.modelGone(model);
  if (embedding.kind === 'local' && embedding.embedder.missing() !== undefined) {
    throw memoryErrors.vendorMissing();
  }
  return embedding;
}

/** Returns the vector of a query, made by the engine. Throws `vendor_unavailable` when the engine is missing or busy. */
export async function embedQuery(
  embedder: Embedder,
  { agentId, query }: { readonly agentId: number; readonly query: string },
): Promise<Float32Array> {
  try {
    const [vector] = await embedder.embed([query], agentId);
    if (vector === undefined) throw new Error('the engine made no vector of a query');
    return vector;
  } catch (error) {
    if (error instanceof EngineMissing) throw memoryErrors.vendorMissing();
    if (error instanceof EngineBusy) throw memoryErrors.vendorBusy(error.retryAfterSeconds);
    throw error;
  }
}
