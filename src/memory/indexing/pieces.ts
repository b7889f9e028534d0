import { EngineMissing } from '../../engines/engine.ts';
import type { Embedder, Embedders } from '../embedder.ts';
import type { IndexedChunk } from './indexing-store.ts';

/** A chunk before it has its vector. */
export type Piece = Omit<IndexedChunk, 'vector'>;

/** Returns the engine that computes vectors of the model. Throws EngineMissing when this server has none. */
export function engineOf(embedders: Embedders, model: string): Embedder {
  const embedding = embedders.of(model);
  if (embedding?.kind === 'local') return embedding.embedder;
  throw new EngineMissing(`no engine for ${model}`);
}

/**
 * Adds its vector to each piece. Throws when the engine left a piece without one, because such a namespace could not be
 * loaded.
 */
export const withVectors = (
  pieces: readonly Piece[],
  vectors: readonly Float32Array[],
): readonly IndexedChunk[] =>
  pieces.map((piece, n) => {
    const vector = vectors[n];
    if (vector !== undefined) return { ...piece, vector };
    throw new Error(`the engine made ${vectors.length} vectors of ${pieces.length} texts`);
  });
