import { EngineBusy, EngineCrashed } from '../../engines/engine.ts';
import type { WorkerClient } from '../../engines/threads/worker-client.ts';
import { MEMORY_LIMITS } from '../limits.ts';
import type { IndexContract } from './index-worker.ts';

/** Thrown when a space must be loaded (again): it was never loaded, evicted or dropped, or the thread was lost. */
export class SpaceNotLoaded extends Error {
  override readonly name = 'SpaceNotLoaded';
}

/** One load of a space. */
export type Loaded = {
  readonly key: number;
  readonly spaceId: number;
  readonly dims: number;
  /** Version of the space that was loaded. Undefined while the load is in progress. */
  version: number | undefined;
  /** Number of calls in progress or waiting. */
  waiting: number;
};

type Value<M extends keyof IndexContract> = IndexContract[M]['out']['value'];

const { waiting: indexWaiting, waitingPerSpace: indexWaitingPerSpace } = MEMORY_LIMITS.index;

/** Spaces that the thread of the index has loaded, by its answers so far. */
export class LoadedSpaces {
  readonly #client: WorkerClient<IndexContract>;
  readonly #byKey = new Map<number, Loaded>();
  /** All loads of each space, including loads in progress. */
  readonly #ofSpace = new Map<number, Set<Loaded>>();
  /** Load that searches use, by space id. */
  readonly #bySpace = new Map<number, Loaded>();
  #thread: WorkerClient<IndexContract>['thread'];
  #nextKey = 1;
  #bytes = 0;

  constructor(client: WorkerClient<IndexContract>) {
    this.#client = client;
  }

  get bytes(): number {
    this.#noticeLoss();
    return this.#bytes;
  }

  find(spaceId: number): Loaded | undefined {
    this.#noticeLoss();
    return this.#bySpace.get(spaceId);
  }

  require(spaceId: number): Loaded {
    const loaded = this.find(spaceId);
    if (loaded === undefined) throw new SpaceNotLoaded(`space ${spaceId} is not loaded`);
    return loaded;
  }

  /** Registers a load of a space that is about to begin. */
  begin(spaceId: number, dims: number): Loaded {
    this.#noticeLoss();
    const key = this.#nextKey++;
    const loaded: Loaded = { key, spaceId, dims, version: undefined, waiting: 0 };
    this.#byKey.set(loaded.key, loaded);
    const siblings = this.#ofSpace.get(spaceId) ?? new Set<Loaded>();
    this.#ofSpace.set(spaceId, siblings.add(loaded));
    return loaded;
  }

  /** Makes a load the searched version of its space. Returns the load that was searched before. */
  finish(loaded: Loaded, version: number): Loaded | undefined {
    this.requireKept(loaded);
    const before = this.#bySpace.get(loaded.spaceId);
    loaded.version = version;
    this.#bySpace.set(loaded.spaceId, loaded);
    return before;
  }

  /** Throws SpaceNotLoaded when the space was dropped or evicted after its load began. */
  requireKept({ key, spaceId }: Loaded): void {
    this.#noticeLoss();
    if (!this.#byKey.has(key)) throw new SpaceNotLoaded(`space ${spaceId} is not loaded any more`);
  }

  /** Returns all loads of a space, including loads in progress. */
  allOf(spaceId: number): readonly Loaded[] {
    this.#noticeLoss();
    return [...(this.#ofSpace.get(spaceId) ?? [])];
  }

  /** Forgets a load at once and wipes its memory. Does nothing for the memory of a lost thread, which is gone. */
  async wipe(loaded: Loaded): Promise<void> {
    this.#forget(loaded.key);
    if (this.#client.thread === undefined) return;
    try {
      await this.#send('drop', { key: loaded.key }, []);
    } catch (error) {
      if (!(error instanceof EngineCrashed)) throw error;
    }
  }

  /** Throws when the space is not loaded, and EngineBusy when too many calls wait, in total or for this space. */
  admit(loaded: Loaded): void {
    this.requireKept(loaded);
    const { inFlight } = this.#client;
    if (inFlight >= indexWaiting || loaded.waiting >= indexWaitingPerSpace) throw new EngineBusy(1);
  }

  /** Sends a call about a space to the thread. Throws as `admit` does. */
  async ask<M extends keyof IndexContract>(
    loaded: Loaded,
    method: M,
    argument: IndexContract[M]['in'],
    transfer: readonly ArrayBuffer[] = [],
  ): Promise<Value<M>> {
    this.admit(loaded);
    loaded.waiting++;
    try {
      return await this.#send(method, argument, transfer);
    } finally {
      loaded.waiting--;
    }
  }

  async #send<M extends keyof IndexContract>(
    method: M,
    argument: IndexContract[M]['in'],
    transfer: readonly ArrayBuffer[],
  ): Promise<Value<M>> {
    const asked = this.#client.call(method, argument, transfer);
    // The call may have started the thread.
    this.#thread = this.#client.thread;
    const { bytes, evicted, value } = await asked;
    this.#bytes = bytes;
    for (const key of evicted) this.#forget(key);
    return value;
  }

  #forget(key: number): void {
    const loaded = this.#byKey.get(key);
    if (loaded === undefined) return;
    this.#byKey.delete(key);
    const siblings = this.#ofSpace.get(loaded.spaceId);
    siblings?.delete(loaded);
    if (siblings?.size === 0) this.#ofSpace.delete(loaded.spaceId);
    if (this.#bySpace.get(loaded.spaceId) === loaded) this.#bySpace.delete(loaded.spaceId);
  }

  /** Forgets all spaces when the thread was lost: a new thread has no spaces. */
  #noticeLoss(): void {
    if (this.#client.thread === this.#thread) return;
    this.#thread = this.#client.thread;
    this.#byKey.clear();
    this.#ofSpace.clear();
    this.#bySpace.clear();
    this.#bytes = 0;
  }
}
