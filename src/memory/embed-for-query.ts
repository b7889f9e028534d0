import { credentialErrors } from '../accounts/errors.ts';
import { ENGINE_LIMITS } from '../engines/limits.ts';
import { assert } from '../kernel/assert.ts';
import { type Embedders, embedQuery, requireEmbedding } from './embedder.ts';
import { memoryErrors } from './errors.ts';
import { type MemoryCaller, spenderOf } from './memory-caller.ts';
import { areSearchable } from './purchase/codecs.ts';
import { ModelRefused, type Models, type PurchaseCost } from './purchase/models.ts';
import type { Space } from './space.ts';

export type EmbeddedQuery = {
  readonly vector: Float32Array;
  /** The bill of the vector. Undefined when an engine of this process made the vector, free of charge. */
  readonly bill?: PurchaseCost;
};

/**
 * Returns the vector of a query, made by its namespace's model, and the bill when the model is paid. Throws
 * `vendor_unavailable`, and the gateway's refusals for a paid model; then nothing was charged. Throws for a read-only key with
 * a paid model.
 */
export async function embedForQuery(
  { embedders, models }: { readonly embedders: Embedders; readonly models?: Models | undefined },
  {
    caller,
    query,
    signal,
    space,
  }: {
    readonly caller: MemoryCaller;
    readonly space: Space;
    readonly query: string;
    readonly signal: AbortSignal;
  },
): Promise<EmbeddedQuery> {
  const { agentId, dims } = space;
  const text = query.slice(0, ENGINE_LIMITS.embedding.textChars);
  const embedding = requireEmbedding(embedders, space.model);
  if (embedding.kind === 'local') {
    return { vector: await embedQuery(embedding.embedder, { agentId, query: text }) };
  }
  if (caller.isReadOnly === true) throw credentialErrors.readOnly();
  assert(models !== undefined, 'what is sold has a seller');
  const { model } = embedding;
  const { admitPooled, span, workId } = caller;
  const purchase = { spender: spenderOf(caller), workId, signal, admitPooled, span };
  let vector: Float32Array | undefined;
  try {
    const bill = await models.embed({ ...purchase, model, texts: [text] }, async (vectors) => {
      // A provider whose vectors have another length, which cannot be compared, is not paid.
      if (!areSearchable(vectors, 1) || vectors[0]?.length !== dims) throw new ModelRefused(200);
      vector = vectors[0];
    });
    assert(vector !== undefined, 'a vector that was charged was delivered');
    return { vector, bill };
  } catch (error) {
    if (error instanceof ModelRefused) throw memoryErrors.modelRefused(model, error.status);
    throw error;
  }
}
