import { EngineBusy, EngineCrashed } from '../../engines/engine.ts';
import type { FairQueue } from '../../engines/threads/fair-queue.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Sql } from '../../platform/postgres/sql.ts';
import { memoryErrors } from '../errors.ts';
import { SpaceNotLoaded } from '../index/loaded-spaces.ts';
import type { Found, SpaceQuery } from '../index/space-query.ts';
import { SpaceTooLarge, type VectorIndex } from '../index/vector-index.ts';
import { MEMORY_LIMITS } from '../limits.ts';
import {
  hasMoreChunks,
  type InTurn,
  readRemovals,
  readVectors,
  readVersions,
  type SpaceVersion,
} from './search-store.ts';
import type { VectorSearch } from './vector-search.ts';

export type SpaceLoaderDeps = {
  readonly sql: Sql;
  readonly index: VectorIndex;
  readonly clock: Clock;
  /** Queue of the agents that wait for the database. */
  readonly line: FairQueue;
};

/** Number of times that a search is tried when its space goes meanwhile. */
const TRIES = 3;

/**
 * Keeps loaded spaces as the database has them. Searches of one space share its loading. Deleted chunks disappear with the next
 * search or within a second, whichever process deleted them.
 */
export class SpaceLoader implements VectorSearch {
  readonly #deps: SpaceLoaderDeps;
  /** Ids of the spaces that this process has loaded. Some may have been evicted since. */
  readonly #loaded = new Set<number>();
  /** The change in progress of each space. A space has one change at a time. */
  readonly #changes = new Map<number, Promise<void>>();
  /** Spaces that did not fit into memory, with the time of the next attempt in monotonic milliseconds. */
  readonly #tooLarge = new Map<number, number>();

  constructor(deps: SpaceLoaderDeps) {
    this.#deps = deps;
  }

  /**
   * Returns the nearest chunks of a space, of this version or a later one. Throws `vendor_unavailable` when the space does not
   * fit into memory, or the index has no room now.
   */
  async search(space: SpaceVersion, query: SpaceQuery): Promise<Found[]> {
    for (let tries = 1; ; tries++) {
      try {
        await this.#ensure(space);
        return await this.#deps.index.search(space.id, query);
      } catch (error) {
        if (error instanceof SpaceTooLarge) throw memoryErrors.tooManyVectors();
        if (error instanceof EngineBusy) throw memoryErrors.vendorBusy(error.retryAfterSeconds);
        // The space was evicted for other spaces, or the index lost its thread.
        if (!isGone(error)) throw error;
        if (tries === TRIES) throw memoryErrors.vendorBusy(1);
      }
    }
  }

  /** Brings a loaded space up to date. A space that is not loaded stays so; a space that cannot be updated is dropped. */
  async follow(space: SpaceVersion): Promise<void> {
    await this.#changes.get(space.id)?.catch(() => {});
    if (this.#deps.index.versionOf(space.id) === undefined) return;
    await this.#ensure(space).catch(() => this.drop(space.id));
  }

  /** Removes chunks and spaces that other processes have deleted from the loaded spaces. */
  async followAll(): Promise<void> {
    for (const id of this.#loaded) {
      if (this.#deps.index.versionOf(id) === undefined) this.#loaded.delete(id);
    }
    if (this.#loaded.size === 0) return;
    const known = await readVersions(this.#deps.sql, [...this.#loaded]);
    const living = new Map(known.map((space) => [space.id, space]));
    for (const id of [...this.#loaded]) {
      const space = living.get(id);
      if (space === undefined) await this.drop(id);
      else if (!this.#isCurrent(space)) await this.follow(space);
    }
  }

  /** Removes the space from memory. Costs next to nothing when nothing of the space is loaded. */
  async drop(spaceId: number): Promise<void> {
    this.#tooLarge.delete(spaceId);
    await this.#changes.get(spaceId)?.catch(() => {});
    await this.#deps.index.drop(spaceId);
    this.#loaded.delete(spaceId);
  }

  /**
   * Resolves when the space is loaded at this version or a later version. Rejects with the errors of the index and the
   * database.
   */
  async #ensure(space: SpaceVersion): Promise<void> {
    while (!this.#isCurrent(space)) {
      const running = this.#changes.get(space.id);
      if (running === undefined) return this.#change(space);
      await running;
    }
  }

  #isCurrent({ id, version }: SpaceVersion): boolean {
    const loaded = this.#deps.index.versionOf(id);
    return loaded !== undefined && loaded >= version;
  }

  async #change(space: SpaceVersion): Promise<void> {
    const { clock } = this.#deps;
    const untilMs = this.#tooLarge.get(space.id) ?? 0;
    if (untilMs > clock.monotonicMs()) throw new SpaceTooLarge('it did not fit a moment ago');
    this.#tooLarge.delete(space.id);
    const change = this.#bringUp(space).finally(() => this.#changes.delete(space.id));
    this.#changes.set(space.id, change);
    try {
      await change;
    } catch (error) {
      if (error instanceof SpaceTooLarge) {
        this.#tooLarge.set(space.id, clock.monotonicMs() + MEMORY_LIMITS.sweep.tooLargeMs);
      }
      throw error;
    }
  }

  async #bringUp({ agentId, dims, forgottenVersion, id, version }: SpaceVersion): Promise<void> {
    const { index, line, sql } = this.#deps;
    const inTurn: InTurn = (work) => line.run(agentId, work);
    const loaded = index.versionOf(id);
    if (loaded === undefined || loaded < forgottenVersion) {
      if (await line.run(agentId, () => hasMoreChunks(sql, id, index.mostRows(dims)))) {
        throw new SpaceTooLarge(`space ${id} has more rows than an agent may have loaded`);
      }
      const rows = readVectors(sql, id, { after: -1, upTo: version }, inTurn);
      await index.load(id, dims, version, rows, agentId);
      this.#loaded.add(id);
      return;
    }
    const span = { after: loaded, upTo: version };
    const removed = await readRemovals(sql, id, span);
    if (removed.length > 0) await index.remove(id, loaded, removed);
    // The rows read now are not deleted, or are deleted at a later version. A row that is there already is replaced by
    // itself.
    for await (const rows of readVectors(sql, id, span, inTurn)) await index.add(id, loaded, rows);
    await index.add(id, version, []);
  }
}

const isGone = (error: unknown): boolean =>
  error instanceof SpaceNotLoaded || error instanceof EngineCrashed;
