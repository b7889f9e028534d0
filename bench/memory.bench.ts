import { sleep, systemClock } from '../src/kernel/clock.ts';
import { silentLog } from '../src/kernel/log.ts';
import { BLOCK_BYTES, layoutOf } from '../src/memory/index/block-layout.ts';
import { startVectorIndex, type VectorIndex } from '../src/memory/index/vector-index.ts';
import { chanceOf } from '../test/support/unit-vectors.ts';
import { type BenchRow, benchRow, verdict } from './bench-row.ts';
import { benchMemoryBesideCalls } from './memory-beside-calls.ts';
import { at, median } from './quantile.ts';
import { makePool, queriesNear, type VectorPool } from './vector-pool.ts';

const DIMS = 512;
const ROWS = 100_000;
const K = 10;
const QUERIES_A_SECOND = 50;
const SECONDS = 10;
/** Queries whose results are compared with those of the plain search. */
const COMPARED = 100;
/** Searches of the large space that are under way while a small one is asked. */
const LARGE_WAITING = 8;
const FLOOR_SPACE = 3;
/** A large space grows by several blocks at a time. */
const MARGIN = 64 * BLOCK_BYTES;
const SPACES = 10_000;
const ROWS_A_SPACE = 100;
/** What they are searched in does not fit the cache of a core, while one space does. */
const FEW_SPACES = 20;
/** Short rounds in turn, so that what else this machine does spoils both alike; what runs first is compiled meanwhile. */
const ROUNDS = 60;
const WARMING_ROUNDS = 10;
const QUERIES_A_ROUND = 200;

const bytesOf = (rows: number) => Math.ceil(rows / layoutOf(DIMS).rows) * BLOCK_BYTES;
const startIndex = (bytes: number) =>
  startVectorIndex({ clock: systemClock, log: silentLog, bytes });

/** M: what a search of an agent's memories costs in one large space, and in a small one beside ten thousand others. */
export async function benchMemory(): Promise<BenchRow[]> {
  const pool = makePool(ROWS, DIMS);
  const alone = [...(await oneLargeSpace(pool)), ...(await manySpaces(pool))];
  return [...alone, ...(await benchMemoryBesideCalls())];
}

async function load(index: VectorIndex, space: number, pool: VectorPool, rows: number) {
  const first = ((space - 1) * rows) % pool.vectors.length;
  const vectors = pool.vectors.slice(first, first + rows);
  async function* pieces() {
    for (let i = 0; i < vectors.length; i += 1_000) {
      const piece = vectors.slice(i, i + 1_000);
      yield piece.map((vector, j) => ({ id: i + j + 1, tag: 0, vector }));
    }
  }
  await index.load(space, DIMS, 1, pieces());
}

async function oneLargeSpace(pool: VectorPool): Promise<BenchRow[]> {
  await using index = startIndex(bytesOf(ROWS) + MARGIN);
  const beganMs = performance.now();
  await load(index, 1, pool, ROWS);
  const loadMs = performance.now() - beganMs;
  const queries = queriesNear(pool, QUERIES_A_SECOND * SECONDS);
  const recall = await recallOf(index, pool, queries.slice(0, COMPARED));
  const { floor, latencies } = await askSteadily(index, pool, queries);
  const cpuMs = await cpuOf(queries.slice(0, COMPARED), (vector) =>
    index.search(1, { vector, k: K }),
  );
  const floorMs = await cpuOf(queries.slice(0, COMPARED), async (vector) =>
    pool.bruteForce(vector, K),
  );
  const small = await besideLarge(index, pool, queries);
  const what = '100,000 of 512';
  return [
    benchRow('M', `${what}, 50 a second: a search, p50`, median(latencies), 'ms'),
    benchRow('M', `${what}, 50 a second: p99`, at(latencies, 0.99), 'ms'),
    benchRow('M', 'one row, 50 a second between them: p50', median(floor), 'ms'),
    benchRow('M', 'one row, 50 a second between them: p99', at(floor, 0.99), 'ms'),
    benchRow(
      'M',
      `${what}: recall of the ten best`,
      recall,
      '',
      `bar >= 0.95: ${verdict(recall >= 0.95)}`,
    ),
    benchRow('M', `${what}: CPU of a search`, cpuMs, 'ms'),
    benchRow('M', `${what}: CPU of the floor, all in Float32`, floorMs, 'ms'),
    benchRow('M', '100 of 512 while large searches wait: p50', median(small.latencies), 'ms'),
    benchRow('M', '100 of 512 while large searches wait: p99', at(small.latencies, 0.99), 'ms'),
    benchRow('M', 'large searches answered before a small one, p99', at(small.passed, 0.99), ''),
    benchRow('M', `${what}: loading`, loadMs, 'ms'),
    benchRow('M', `${what}: memory of the index`, index.bytes / 1_048_576, 'MB'),
  ];
}

async function recallOf(index: VectorIndex, pool: VectorPool, queries: readonly Float32Array[]) {
  let found = 0;
  for (const vector of queries) {
    const ids = new Set((await index.search(1, { vector, k: K })).map(({ id }) => id));
    found += pool.bruteForce(vector, K).filter((place) => ids.has(place + 1)).length;
  }
  return found / (queries.length * K);
}

/** Asks at fixed times, whether or not what was asked before is answered; and a space of one row between, as the floor. */
async function askSteadily(index: VectorIndex, pool: VectorPool, queries: readonly Float32Array[]) {
  await load(index, FLOOR_SPACE, pool, 1);
  const everyMs = 1_000 / QUERIES_A_SECOND;
  const beganMs = performance.now();
  const ask = async (space: number, vector: Float32Array) => {
    const askedMs = performance.now();
    await index.search(space, { vector, k: K });
    return performance.now() - askedMs;
  };
  const asked: Promise<number>[] = [];
  const floor: Promise<number>[] = [];
  for (const [i, vector] of queries.entries()) {
    await sleep(systemClock, beganMs + i * everyMs - performance.now());
    asked.push(ask(1, vector));
    await sleep(systemClock, beganMs + (i + 0.5) * everyMs - performance.now());
    floor.push(ask(FLOOR_SPACE, vector));
  }
  return { latencies: await Promise.all(asked), floor: await Promise.all(floor) };
}

/** Searches of a small space while some of the large one always wait, and how many of those were answered meanwhile. */
async function besideLarge(index: VectorIndex, pool: VectorPool, queries: readonly Float32Array[]) {
  await load(index, 2, pool, ROWS_A_SPACE);
  let isOver = false;
  let answered = 0;
  const keepAsking = async (first: number) => {
    for (let i = first; !isOver; i++) {
      await index.search(1, {
        vector: queries[i % queries.length] ?? new Float32Array(DIMS),
        k: K,
      });
      answered++;
    }
  };
  const large = Array.from({ length: LARGE_WAITING }, (_, i) => keepAsking(i));
  const latencies: number[] = [];
  const passed: number[] = [];
  for (const vector of queries) {
    const before = answered;
    const askedMs = performance.now();
    await index.search(2, { vector, k: K });
    latencies.push(performance.now() - askedMs);
    passed.push(answered - before);
    await sleep(systemClock, 2);
  }
  isOver = true;
  await Promise.all(large);
  return { latencies, passed };
}

/** Milliseconds of CPU a query takes, of all threads. */
async function cpuOf(
  queries: readonly Float32Array[],
  search: (vector: Float32Array, i: number) => Promise<unknown>,
): Promise<number> {
  const before = process.cpuUsage();
  for (const [i, vector] of queries.entries()) await search(vector, i);
  const { system, user } = process.cpuUsage(before);
  return (user + system) / 1_000 / queries.length;
}

async function manySpaces(pool: VectorPool): Promise<BenchRow[]> {
  await using one = startIndex(bytesOf(ROWS_A_SPACE));
  await using many = startIndex(SPACES * bytesOf(ROWS_A_SPACE));
  await using few = startIndex(FEW_SPACES * bytesOf(ROWS_A_SPACE));
  await load(one, 1, pool, ROWS_A_SPACE);
  for (let space = 1; space <= FEW_SPACES; space++) await load(few, space, pool, ROWS_A_SPACE);
  for (let space = 1; space <= SPACES; space++) await load(many, space, pool, ROWS_A_SPACE);
  const queries = queriesNear(pool, QUERIES_A_ROUND);
  const chance = chanceOf(3);
  const spaces = Array.from({ length: SPACES }, () => 1 + Math.floor(chance() * SPACES));
  const alone: number[] = [];
  const besideFew: number[] = [];
  const beside: number[] = [];
  for (let round = 0; round < WARMING_ROUNDS + ROUNDS; round++) {
    const inOne = await cpuOf(queries, (vector) => one.search(1, { vector, k: K }));
    const inFew = await cpuOf(queries, (vector, i) =>
      few.search(1 + (i % FEW_SPACES), { vector, k: K }),
    );
    const inMany = await cpuOf(queries, (vector, i) =>
      many.search(spaces[(i + round * QUERIES_A_ROUND) % SPACES] ?? 1, { vector, k: K }),
    );
    if (round < WARMING_ROUNDS) continue;
    alone.push(inOne);
    besideFew.push(inFew);
    beside.push(inMany);
  }
  const what = 'a search in 100 of 512';
  return [
    benchRow('M', `${what}, CPU: alone`, median(alone) * 1_000, 'µs'),
    benchRow('M', `${what}, CPU: beside 19 such spaces`, median(besideFew) * 1_000, 'µs'),
    benchRow('M', `${what}, CPU: beside 9,999`, median(beside) * 1_000, 'µs'),
    ratioRow('beside 9,999 over alone, in the cache', beside, alone),
    ratioRow('beside 9,999 over beside 19', beside, besideFew),
    benchRow('M', '10,000 spaces: memory of the index', many.bytes / 1_048_576, 'MB'),
  ];
}

function ratioRow(what: string, costs: readonly number[], floor: readonly number[]): BenchRow {
  const ratio = median(costs.map((cpu, round) => cpu / (floor[round] ?? 0)));
  return benchRow('M', what, ratio, '×', `bar <= 1.2: ${verdict(ratio <= 1.2)}`);
}
