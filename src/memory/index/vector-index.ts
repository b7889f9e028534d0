import { EngineInputRefused } from '../../engines/engine.ts';
import { ENGINE_LIMITS } from '../../engines/limits.ts';
import {
  createWorkerClient,
  type WorkerClient,
  workerEntry,
} from '../../engines/threads/worker-client.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import { MEMORY_LIMITS } from '../limits.ts';
import { BLOCK_BYTES, layoutOf } from './block-layout.ts';
import type { IndexContract, IndexWorkerOptions } from './index-worker.ts';
import { type Loaded, LoadedSpaces, SpaceNotLoaded } from './loaded-spaces.ts';
import { type IndexedRow, packRows, requireDims } from './pack-rows.ts';
import type { Found, SpaceQuery } from './space-query.ts';
import { type Outcome, type SpacesBounds, spacesBounds } from './spaces.ts';
import { isShort } from './unit-length.ts';

/** Thrown when a space alone needs more memory than its owner may have. Nothing of the space is kept. */
export class SpaceTooLarge extends Error {
  override readonly name = 'SpaceTooLarge';
}

/**
 * Exact search of vectors in memory, in a thread of its own. Vectors are unit vectors, so their product is the cosine. Every
 * method rejects with EngineBusy when too many calls wait, with EngineInputRefused for an invalid row or query, and with
 * EngineCrashed when the thread is lost; then all spaces have to be loaded again.
 */
export interface VectorIndex extends AsyncDisposable {
  /** Returns the version at which the space can be searched; undefined when it has to be loaded. */
  versionOf(spaceId: number): number | undefined;
  /**
   * Loads a space, which replaces the loaded version once its last row has arrived. Until then searches find the earlier
   * version, and `add` and `remove` change that version: compare `versionOf` with the database's version afterwards. Rejects
   * with SpaceTooLarge, with SpaceNotLoaded when the space was dropped while it was loaded, and as `rows` does. Spaces of one
   * owner have no more than the owner's share of the memory; without an owner a space counts as an owner of its own.
   */
  load(
    spaceId: number,
    dims: number,
    version: number,
    rows: AsyncIterable<readonly IndexedRow[]>,
    owner?: number,
  ): Promise<void>;
  /**
   * Adds rows, replaces rows with the same ids, and raises the version. Rejects with SpaceNotLoaded and SpaceTooLarge. After
   * any error but EngineBusy the space is no longer loaded, because it may lack some of the rows.
   */
  add(spaceId: number, version: number, rows: readonly IndexedRow[]): Promise<void>;
  /** Removes rows and raises the version. Once this resolves, their memory holds zeros. Rejects as `add` does. */
  remove(spaceId: number, version: number, ids: readonly number[]): Promise<void>;
  /** Drops a space, even while it is being loaded. Once this resolves, its memory holds zeros. */
  drop(spaceId: number): Promise<void>;
  /** Returns the rows with the highest scores; of equal scores, those with the lowest ids. Rejects with SpaceNotLoaded. */
  search(spaceId: number, query: SpaceQuery): Promise<Found[]>;
  /**
   * Returns the number of rows with `dims` numbers beyond which a space is too large. The estimate is rough and never
   * too low.
   */
  mostRows(dims: number): number;
  /** Bytes of memory in use, in whole blocks. */
  readonly bytes: number;
}

const {
  among: indexAmong,
  bytes: indexBytes,
  dims: indexDims,
  results: indexResults,
  waiting: indexWaiting,
  youngHeapMb: indexYoungHeapMb,
} = MEMORY_LIMITS.index;
/** Number of ids that one call removes. */
const IDS_A_CALL = 1_000;

/** Creates a vector index. Its thread starts when the first space is loaded. */
export function startVectorIndex(deps: {
  readonly clock: Clock;
  readonly log: Log;
  readonly bytes?: number;
  /** Largest share of the memory for the spaces of one owner. Default: all of the memory. */
  readonly ownerShare?: number;
}): VectorIndex {
  const bounds = spacesBounds(deps.bytes ?? indexBytes, deps.ownerShare);
  const client = createWorkerClient<IndexContract, IndexWorkerOptions>({
    name: 'memory index',
    clock: deps.clock,
    log: deps.log,
    entry: workerEntry('index-worker', import.meta.url),
    options: () => bounds,
    // Calls that wipe memory must not be refused because searches wait, so that the queue is twice as long.
    maxInFlight: 2 * indexWaiting,
    niceness: ENGINE_LIMITS.worker.niceness.other,
    youngHeapMb: indexYoungHeapMb,
  });
  return createVectorIndex(client, bounds);
}

/**
 * Creates a vector index on a worker.
 *
 * @internal Tests run it on a client without a thread, and on workers that crash.
 */
export function createVectorIndex(
  client: WorkerClient<IndexContract>,
  bounds: SpacesBounds,
): VectorIndex {
  const spaces = new LoadedSpaces(client);

  async function add(space: Loaded, rows: readonly IndexedRow[]): Promise<void> {
    for (const batch of packRows(rows, space.dims)) {
      const { ids, tags, vectors } = batch;
      const buffers = [ids, tags, vectors].map(({ buffer }) => buffer as ArrayBuffer);
      requireDone(space, await spaces.ask(space, 'add', { key: space.key, rows: batch }, buffers));
    }
  }

  async function remove(space: Loaded, ids: readonly number[]): Promise<void> {
    for (let first = 0; first < ids.length; first += IDS_A_CALL) {
      const some = ids.slice(first, first + IDS_A_CALL);
      requireDone(space, await spaces.ask(space, 'remove', { key: space.key, ids: some }));
    }
  }

  /** Applies a change. When the change fails halfway, drops the space, because a part of a change belongs to no version. */
  async function whole<T>(space: Loaded, change: () => Promise<T>): Promise<T> {
    try {
      return await change();
    } catch (error) {
      await spaces.wipe(space).catch(() => {});
      throw error;
    }
  }

  async function change(spaceId: number, version: number, apply: (space: Loaded) => Promise<void>) {
    const space = spaces.require(spaceId);
    // A change that is refused before it begins leaves the space as it is.
    spaces.admit(space);
    await whole(space, () => apply(space));
    space.version = Math.max(space.version ?? version, version);
  }

  return {
    versionOf: (spaceId) => spaces.find(spaceId)?.version,
    async load(spaceId, dims, version, rows, owner) {
      if (!Number.isInteger(dims) || dims < 1 || dims > indexDims) {
        throw new EngineInputRefused(`a vector has 1 to ${indexDims} numbers, not ${dims}`);
      }
      const space = spaces.begin(spaceId, dims);
      const before = await whole(space, async () => {
        await spaces.ask(space, 'open', { key: space.key, dims, owner: owner ?? -spaceId });
        for await (const piece of rows) await add(space, piece);
        return spaces.finish(space, version);
      });
      if (before !== undefined) await spaces.wipe(before);
    },
    add: (spaceId, version, rows) => change(spaceId, version, (space) => add(space, rows)),
    remove: (spaceId, version, ids) => change(spaceId, version, (space) => remove(space, ids)),
    async drop(spaceId) {
      await Promise.all(spaces.allOf(spaceId).map((space) => spaces.wipe(space)));
    },
    async search(spaceId, query) {
      const space = spaces.require(spaceId);
      requireQuery(query, space.dims);
      const { key } = space;
      const vector = query.vector.slice();
      const asked = { key, query: { ...query, vector } };
      const found = await spaces.ask(space, 'search', asked, [vector.buffer]);
      if (found === 'absent') throw new SpaceNotLoaded(`space ${spaceId} is not loaded any more`);
      return found;
    },
    mostRows: (dims) => layoutOf(dims, Math.floor(bounds.owners.bytes / BLOCK_BYTES)).rows,
    get bytes() {
      return spaces.bytes;
    },
    [Symbol.asyncDispose]: () => client[Symbol.asyncDispose](),
  };
}

function requireDone({ spaceId }: Loaded, outcome: Outcome): void {
  if (outcome === 'full')
    throw new SpaceTooLarge(`space ${spaceId} is larger than its owner's share of the index`);
  if (outcome === 'absent') throw new SpaceNotLoaded(`space ${spaceId} is not loaded any more`);
}

function requireQuery({ among, k, vector }: SpaceQuery, dims: number): void {
  requireDims(vector, dims);
  if (!isShort(vector)) throw new EngineInputRefused('the vector of a query is no unit vector');
  if (!Number.isInteger(k) || k < 1 || k > indexResults) {
    throw new EngineInputRefused(`a search has 1 to ${indexResults} results, not ${k}`);
  }
  if (among !== undefined && among.length > indexAmong) {
    throw new EngineInputRefused(`a search is among ${indexAmong} rows at most`);
  }
}
