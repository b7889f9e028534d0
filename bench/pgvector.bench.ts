import { createFairQueue } from '../src/engines/threads/fair-queue.ts';
import { sleep, systemClock } from '../src/kernel/clock.ts';
import { silentLog } from '../src/kernel/log.ts';
import { MEMORY_LIMITS } from '../src/memory/limits.ts';
import { fillInCommit } from '../src/memory/pgvector/fill-vectors.ts';
import { listGraphs } from '../src/memory/pgvector/graphs-store.ts';
import { createPgvectorSearch } from '../src/memory/pgvector/pgvector-search.ts';
import { VectorKeeper } from '../src/memory/pgvector/vector-keeper.ts';
import type { SpaceVersion } from '../src/memory/search/search-store.ts';
import type { VectorSearch } from '../src/memory/search/vector-search.ts';
import type { Sql } from '../src/platform/postgres/sql.ts';
import { type NewRow, vectorSpace } from '../test/support/vector-spaces.ts';
import { type BenchRow, benchRow, verdict } from './bench-row.ts';
import { withPgvector } from './pgvector-database.ts';
import { at, median } from './quantile.ts';
import { makePool, queriesNear, type VectorPool } from './vector-pool.ts';

const DIMS = 512;
const ROWS = 100_000;
const ROWS_A_COMMIT = 1_000;
const K = 10;
const QUERIES_A_SECOND = 50;
const SECONDS = 10;
/** Queries whose results are compared with those of the plain search. */
const COMPARED = 200;
const WARMING = 50;
const BAR_MS = 50;

/** The index of the process has nothing of what is measured here. */
const NOT_HERE: VectorSearch = {
  search: () => Promise.reject(new Error('pgvector did not search')),
  follow: async () => {},
  followAll: async () => {},
  drop: async () => {},
};

/** V: what a search of 100,000 memories of one agent costs where the database has pgvector, and what of the nearest it finds. */
export const benchPgvector = (): Promise<BenchRow[]> =>
  withPgvector(async (sql, server) => {
    const pool = makePool(ROWS, DIMS);
    const beganMs = performance.now();
    const { space, places } = await fill(sql, pool);
    const filledMs = performance.now();
    await makeGraph(sql);
    const madeMs = performance.now();
    const line = createFairQueue(MEMORY_LIMITS.queue.reads);
    const search = createPgvectorSearch({ sql, packed: NOT_HERE, line, keeper: { want() {} } });
    const ask = (vector: Float32Array) => search.search(space, { vector, k: K });
    const queries = queriesNear(pool, QUERIES_A_SECOND * SECONDS + WARMING);
    for (const vector of queries.splice(0, WARMING)) await ask(vector);
    const recall = await recallOf(ask, pool, queries.slice(0, COMPARED), places);
    const latencies = await askSteadily(ask, queries);
    const p99 = at(latencies, 0.99);
    const what = `100,000 of 512 in pgvector (${server})`;
    return [
      benchRow('V', `${what}, 50 a second: a search, p50`, median(latencies), 'ms'),
      benchRow('V', `${what}, 50 a second: p99`, p99, 'ms', `bar <= 50: ${verdict(p99 <= BAR_MS)}`),
      benchRow(
        'V',
        `${what}: recall of the ten best`,
        recall,
        '',
        `bar >= 0.95: ${verdict(recall >= 0.95)}`,
      ),
      benchRow('V', `${what}: writing`, (filledMs - beganMs) / 1_000, 's'),
      benchRow('V', `${what}: making the graph`, (madeMs - filledMs) / 1_000, 's'),
    ];
  });

/** Writes the vectors as the indexer does. Answers where in the pool the rows are, by their ids. */
async function fill(sql: Sql, { vectors }: VectorPool) {
  const space = await vectorSpace(sql, DIMS);
  const places = new Map<number, number>();
  for (let first = 0; first < vectors.length; first += ROWS_A_COMMIT) {
    const some = vectors.slice(first, first + ROWS_A_COMMIT);
    const rows = await space.write(
      some.map((vector): NewRow => ({ tag: 0, vector: vector.slice() })),
      fillInCommit,
    );
    for (const [n, { id }] of rows.entries()) places.set(id, first + n);
  }
  return { space: await space.stored(), places } satisfies { space: SpaceVersion; places: unknown };
}

async function makeGraph(sql: Sql): Promise<void> {
  await using keeper = new VectorKeeper({ sql, log: silentLog });
  await keeper.fill();
  await keeper.keepGraphs();
  if ((await listGraphs(sql)).every(({ isValid }) => !isValid))
    throw new Error('no graph was made');
}

type Ask = (vector: Float32Array) => Promise<readonly { readonly id: number }[]>;

async function recallOf(
  ask: Ask,
  pool: VectorPool,
  queries: readonly Float32Array[],
  places: ReadonlyMap<number, number>,
): Promise<number> {
  let found = 0;
  for (const vector of queries) {
    const nearest = new Set(pool.bruteForce(vector, K));
    found += (await ask(vector)).filter(({ id }) => nearest.has(places.get(id) ?? -1)).length;
  }
  return found / (queries.length * K);
}

/** Asks at fixed times, whether or not what was asked before is answered. One that is refused has taken for ever. */
async function askSteadily(ask: Ask, queries: readonly Float32Array[]): Promise<number[]> {
  const beganMs = performance.now();
  const timed = async (vector: Float32Array) => {
    const askedMs = performance.now();
    const isAnswered = await ask(vector).then(
      () => true,
      () => false,
    );
    return isAnswered ? performance.now() - askedMs : Number.POSITIVE_INFINITY;
  };
  const asked: Promise<number>[] = [];
  for (const [i, vector] of queries.entries()) {
    await sleep(systemClock, beganMs + (i * 1_000) / QUERIES_A_SECOND - performance.now());
    asked.push(timed(vector));
  }
  return Promise.all(asked);
}
