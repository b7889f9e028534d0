import type { Sql } from '../../platform/postgres/sql.ts';
import type { VectorIndex } from '../index/vector-index.ts';
import { readRemovals, readVectors, readVersions, type SpaceVersion } from './search-store.ts';

type LoadedSpace = SpaceVersion & { readonly dims: number };

/**
 * Keeps what is loaded of spaces as the database has it. Searches of one space share its loading; what is deleted
 * leaves with the next search or within the second, whichever process deleted it.
 */
export class SpaceLoader {
  readonly #sql: Sql;
  readonly #index: VectorIndex;
  /** Spaces that were loaded here and may still be, with their dimensions. */
  readonly #loaded = new Map<number, number>();
  /** One change of a space at a time. */
  readonly #changes = new Map<number, Promise<void>>();

  constructor(deps: { readonly sql: Sql; readonly index: VectorIndex }) {
    this.#sql = deps.sql;
    this.#index = deps.index;
  }

  /** Resolves when the space is loaded at this version or a later one. */
  async ensure(space: LoadedSpace): Promise<void> {
    while (!this.#isCurrent(space)) {
      const running = this.#changes.get(space.id);
      if (running === undefined) return this.#change(space.id, () => this.#bringUp(space));
      await running.catch(() => {});
    }
  }

  /** Nothing of the space stays in memory. */
  async drop(spaceId: number): Promise<void> {
    await this.#changes.get(spaceId)?.catch(() => {});
    this.#loaded.delete(spaceId);
    await this.#index.drop(spaceId);
  }

  /** Brings a space that is loaded up to date; one that is not stays so. */
  async followOne(space: LoadedSpace): Promise<void> {
    await this.#changes.get(space.id)?.catch(() => {});
    if (this.#index.versionOf(space.id) !== undefined) await this.ensure(space);
  }

  /** Follows what other processes have deleted. */
  async follow(): Promise<void> {
    for (const id of this.#loaded.keys()) {
      if (this.#index.versionOf(id) === undefined) this.#loaded.delete(id);
    }
    if (this.#loaded.size === 0) return;
    const known = await readVersions(this.#sql, [...this.#loaded.keys()]);
    const living = new Map(known.map((space) => [space.id, space]));
    for (const [id, dims] of [...this.#loaded]) {
      const space = living.get(id);
      if (space === undefined) await this.drop(id);
      else if (!this.#isCurrent(space)) await this.ensure({ ...space, dims });
    }
  }

  #isCurrent({ id, version }: SpaceVersion): boolean {
    const loaded = this.#index.versionOf(id);
    return loaded !== undefined && loaded >= version;
  }

  #change(spaceId: number, change: () => Promise<void>): Promise<void> {
    const running = change().finally(() => this.#changes.delete(spaceId));
    this.#changes.set(spaceId, running);
    return running;
  }

  async #bringUp({ dims, forgottenVersion, id, version }: LoadedSpace): Promise<void> {
    const loaded = this.#index.versionOf(id);
    if (loaded === undefined || loaded < forgottenVersion) {
      const rows = readVectors(this.#sql, id, { after: -1, upTo: version });
      await this.#index.load(id, dims, version, rows);
      this.#loaded.set(id, dims);
      return;
    }
    const span = { after: loaded, upTo: version };
    const removed = await readRemovals(this.#sql, id, span);
    if (removed.length > 0) await this.#index.remove(id, loaded, removed);
    // What is read now is not deleted, or is so at a later version. A row that is there already stays.
    for await (const rows of readVectors(this.#sql, id, span)) {
      await this.#index.add(id, loaded, rows);
    }
    await this.#index.add(id, version, []);
  }
}
