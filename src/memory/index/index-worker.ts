import { serveWorker, workerOptions } from '../../engines/threads/worker-host.ts';
import { createFairTurns } from './fair-turns.ts';
import type { Steps } from './space.ts';
import type { Found, SpaceQuery } from './space-query.ts';
import { type Outcome, type PackedRows, Spaces, type SpacesBounds } from './spaces.ts';

export type IndexWorkerOptions = SpacesBounds;

/** Result of a call, with the state of the thread's memory. */
type Reply<T> = {
  readonly value: T;
  readonly bytes: number;
  /** Keys of the spaces that were evicted since the last reply. */
  readonly evicted: readonly number[];
};

/** Calls of the index thread. A `key` names one load of a space and is never used again. */
export type IndexContract = {
  readonly open: {
    readonly in: { readonly key: number; readonly dims: number; readonly owner: number };
    readonly out: Reply<void>;
  };
  readonly add: {
    readonly in: { readonly key: number; readonly rows: PackedRows };
    readonly out: Reply<Outcome>;
  };
  readonly remove: {
    readonly in: { readonly key: number; readonly ids: readonly number[] };
    readonly out: Reply<Outcome>;
  };
  readonly drop: { readonly in: { readonly key: number }; readonly out: Reply<void> };
  readonly search: {
    readonly in: { readonly key: number; readonly query: SpaceQuery };
    readonly out: Reply<Found[] | 'absent'>;
  };
};

const spaces = new Spaces(workerOptions<IndexWorkerOptions>());
const turns = createFairTurns();

async function inTurn<T>(key: number, begin: () => Steps<T>): Promise<Reply<T>> {
  const value = await turns.run(key, begin);
  return { value, bytes: spaces.bytes, evicted: spaces.takeEvicted() };
}

serveWorker<IndexContract>(
  {
    open: ({ key, ...space }) => inTurn(key, () => spaces.open(key, space)),
    add: ({ key, rows }) => inTurn(key, () => spaces.add(key, rows)),
    remove: ({ ids, key }) => inTurn(key, () => spaces.remove(key, ids)),
    drop: ({ key }) => inTurn(key, () => spaces.drop(key)),
    search: ({ key, query }) => inTurn(key, () => spaces.search(key, query)),
  },
  { overlap: true },
);
