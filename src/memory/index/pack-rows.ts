import { EngineInputRefused } from '../../engines/engine.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { PackedRows } from './spaces.ts';

export type IndexedRow = {
  /** A whole number from 1 on. */
  readonly id: number;
  /** 0 to 255: a memory is 0, knowledge is 1. */
  readonly tag: number;
  readonly vector: Float32Array;
};

const { indexBatchBytes, indexBatchRows } = LIMITS.memory;

/** Copies rows into batches that are small enough to be stored in one step. Throws EngineInputRefused. */
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
