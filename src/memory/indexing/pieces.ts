import { EngineMissing } from '../../engines/engine.ts';
import type { Embedder, Embedders } from '../embedder.ts';
import type { IndexedChunk } from './indexing-store.ts';

/** A chunk before it has its vector. */
export type Piece = Omit<IndexedChunk, 'vector'>;

/** Throws EngineMissing where no engine here makes vectors of the model. */
export function engineOf(embedders: Embedders, model: string): Embedder {
  const embedding = embedders.of(model);
  if (embedding?.kind === 'local') return embedding.embedder;
  throw new EngineMissing(`no engine for ${model}`);
}

/** Throws where the engine left a piece without a vector: a namespace with an empty one could not be loaded. */
export const withVectors = (
  pieces: readonly Piece[],
  vectors: readonly Float32Array[],
): readonly IndexedChunk[] =>
  pieces.map((piece, n) => {
    const vector = vectors[n];
    if (vector !== undefined) return { ...piece, vector };
    throw new Error(`the engine made ${vectors.length} vectors of ${pieces.length} texts`);
  });
