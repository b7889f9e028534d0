import { describe, expect, it } from 'vitest';
import { EngineInputRefused } from '../../../../src/engines/engine.ts';
import { packRows } from '../../../../src/memory/index/pack-rows.ts';
import { MEMORY_LIMITS } from '../../../../src/memory/limits.ts';

const row = (id: number, tag = 0, dims = 4) => ({ id, tag, vector: new Float32Array(dims) });

describe('packed rows', () => {
  it('packed rows form batches of limited size that contain every row once', () => {
    const dims = 3_072;
    const rows = Array.from({ length: 100 }, (_, i) => row(i + 1, i % 2, dims));
    const batches = [...packRows(rows, dims)];
    expect(batches.flatMap(({ ids }) => [...ids])).toEqual(rows.map(({ id }) => id));
    expect(batches.flatMap(({ tags }) => [...tags])).toEqual(rows.map(({ tag }) => tag));
    for (const { ids, vectors } of batches) {
      expect(vectors).toHaveLength(ids.length * dims);
      expect(vectors.byteLength).toBeLessThanOrEqual(MEMORY_LIMITS.index.batchBytes);
    }
  });

  it('packing refuses a row with a wrong id, tag or number of dimensions', () => {
    const wrong = [row(0), row(-1), row(1.5), row(2 ** 53), row(1, 256), row(1, -1), row(1, 0, 5)];
    for (const one of wrong) expect(() => [...packRows([one], 4)]).toThrow(EngineInputRefused);
  });
});
