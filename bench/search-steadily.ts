import { systemClock } from '../src/kernel/clock.ts';
import { silentLog } from '../src/kernel/log.ts';
import { startVectorIndex } from '../src/memory/index/vector-index.ts';
import { chanceOf, toUnit } from '../test/support/unit-vectors.ts';
import { makePool, type VectorPool } from './vector-pool.ts';

export const MEMORY_ROWS = 100_000;
const DIMS = 512;
const K = 10;
const INDEX_BYTES = 400 * 1024 * 1024;
const PIECE = 1_000;

/** Loads an index of memories, and searches it at fixed times from then on, whether or not what was asked before is answered. */
export async function searchSteadily(perSecond: number) {
  const pool = makePool(MEMORY_ROWS, DIMS);
  const index = startVectorIndex({ clock: systemClock, log: silentLog, bytes: INDEX_BYTES });
  await index.load(1, DIMS, 1, pieces(pool));
  const chance = chanceOf(5);
  const queries = Array.from({ length: PIECE }, () =>
    toUnit(Float32Array.from({ length: DIMS }, () => chance() - 0.5)),
  );
  let latenciesMs: number[] = [];
  let asked = 0;
  setInterval(async () => {
    const vector = queries[asked++ % queries.length] as Float32Array;
    const askedMs = performance.now();
    await index.search(1, { vector, k: K });
    latenciesMs.push(performance.now() - askedMs);
  }, 1_000 / perSecond);
  return {
    /** Of the searches since the last question. */
    latenciesMs(): number[] {
      const taken = latenciesMs;
      latenciesMs = [];
      return taken;
    },
  };
}

async function* pieces({ vectors }: VectorPool) {
  for (let i = 0; i < vectors.length; i += PIECE) {
    const piece = vectors.slice(i, i + PIECE);
    yield piece.map((vector, j) => ({ id: i + j + 1, tag: 0, vector }));
  }
}
