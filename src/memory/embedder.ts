import { type EmbeddingEngine, EngineBusy, EngineMissing } from '../engines/engine.ts';
import { USE_LITE_DIMENSIONS } from '../engines/guide/use-lite.ts';
import { errors } from '../kernel/errors.ts';

/** What makes vectors of texts. A namespace keeps the model that its vectors were made by. */
export interface Embedder {
  readonly model: string;
  readonly dims: number;
  /** One vector of length 1 a text, in order. Rejects as the engine does. */
  embed(texts: readonly string[], agentId: number): Promise<readonly Float32Array[]>;
  /** A sentence where the engine is not part of this installation. */
  missing(): string | undefined;
}

/** The sentence encoder inside this process. */
export const localEmbedder = (engines: {
  readonly embedding: { readonly useLite: EmbeddingEngine };
  missing(engine: 'use-lite'): string | undefined;
}): Embedder => ({
  model: 'local/use-lite',
  dims: USE_LITE_DIMENSIONS,
  embed: (texts, agentId) => engines.embedding.useLite.embed(texts, agentId),
  missing: () => engines.missing('use-lite'),
});

/** The vector of a query. Throws `vendor_unavailable` where the engine is missing, busy, or not that of the namespace. */
export async function embedQuery(
  embedder: Embedder,
  { agentId, model, query }: { agentId: number; model: string; query: string },
): Promise<Float32Array> {
  if (model !== embedder.model) throw errors.memory.vendorMissing();
  try {
    const [vector] = await embedder.embed([query], agentId);
    if (vector === undefined) throw new Error('the engine made no vector of a query');
    return vector;
  } catch (error) {
    if (error instanceof EngineMissing) throw errors.memory.vendorMissing();
    if (error instanceof EngineBusy) throw errors.memory.vendorBusy(error.retryAfterSeconds);
    throw error;
  }
}
