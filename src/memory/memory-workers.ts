import type { Worker } from '../kernel/schedule.ts';
import type { Sql } from '../platform/postgres/sql.ts';
import type { Indexer } from './indexing/indexer.ts';
import { forgetRemovals, wakeAffordable } from './indexing/indexing-store.ts';
import { MEMORY_LIMITS } from './limits.ts';
import type { VectorSearch } from './search/vector-search.ts';
import { sweepDeleted } from './tenant-store.ts';

const SWEEP_MS = 1_000;
const FORGET_MS = 60_000;
/** Largest number of steps in one run of a worker. The next run continues. */
const STEPS = 20;

/** Creates the background workers of the memory store. Every process runs them. */
export function createMemoryWorkers(deps: {
  readonly sql: Sql;
  readonly indexer: Indexer;
  readonly loader: VectorSearch;
}): Worker[] {
  const { indexer, loader, sql } = deps;
  return [
    {
      name: 'index-memories',
      everyMs: MEMORY_LIMITS.indexing.pollMs,
      tick: () => indexer.tick(),
    },
    {
      name: 'wake-unpaid-memories',
      everyMs: MEMORY_LIMITS.indexing.wakeMs,
      tick: () => wakeAffordable(sql),
    },
    {
      name: 'follow-deleted-memories',
      everyMs: MEMORY_LIMITS.sweep.checkEveryMs,
      tick: () => loader.followAll(),
    },
    {
      name: 'sweep-memories',
      everyMs: SWEEP_MS,
      async tick() {
        for (let n = 0; n < STEPS && (await sweepDeleted(sql)); n++);
      },
    },
    { name: 'forget-memory-removals', everyMs: FORGET_MS, tick: () => forgetRemovals(sql) },
  ];
}
