import { EngineInputRefused } from '../../engines/engine.ts';
import { MEMORY_LIMITS } from '../limits.ts';
import type { PackedRows } from './spaces.ts';

export type IndexedRow = {
  /** Id of the row, a whole number from 1. */
  readonly id: number;
  /** Tag of the row, 0 to 255: 0 for a memory, 1 for knowledge. */
  readonly tag: number;
  readonly vector: Float32Array;
};

const { batchBytes: indexBatchBytes, batchRows: indexBatchRows } = MEMORY_LIMITS.index;

/** Copies rows into batches that can be stored in one step each. Throws EngineInputRefused. */
export function* packRows(rows: readonly IndexedRow[], dims: number): Generator<PackedRows> {
  const most = Math.min(indexBatchRows, Math.floor(indexBatchBytes / (dims * 4)));
  for (let first = 0; first < rows.length; first += most) {
    yield pack(rows.slice(first, first + most), dims);
  }
}

function pack(rows: readonly IndexedRow[], dims: number): PackedRows {
  const vectors = new Float32Array(rows.length * dims);
  for (const [i, { id, tag, vector }] of rows.entries()) {
    if (!Number.isSafeInteger(id) || id < 1)
      throw new EngineInputRefused(`${id} is no id of a row`);
    if (!Number.isInteger(tag) || tag < 0 || tag > 255) {
      throw new EngineInputRefused(`${tag} is no tag of a row`);
    }
    requireDims(vector, dims);
    vectors.set(vector, i * dims);
  }
  return {
    ids: Float64Array.from(rows, ({ id }) => id),
    tags: Uint8Array.from(rows, ({ tag }) => tag),
    vectors,
  };
}

export function requireDims(vector: Float32Array, dims: number): void {
  if (vector.length === dims) return;
  throw new EngineInputRefused(`a vector has ${vector.length} numbers in a space of ${dims}`);
}
