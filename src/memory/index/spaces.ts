import { EngineInputRefused } from '../../engines/engine.ts';
import { MEMORY_LIMITS } from '../limits.ts';
import { Arena } from './arena.ts';
import { BLOCK_BYTES } from './block-layout.ts';
import type { Row } from './extent.ts';
import { searchSpace } from './search-space.ts';
import { Space, type Steps } from './space.ts';
import type { Found, SpaceQuery } from './space-query.ts';
import { isShort } from './unit-length.ts';

/** Rows for a message between threads. The vectors lie one after the other. */
export type PackedRows = {
  readonly ids: Float64Array;
  readonly tags: Uint8Array;
  readonly vectors: Float32Array;
};

/** Number of rows removed in one step. Each removal moves another row. */
const REMOVED_A_STEP = 128;

/** `absent`: the space is not loaded, or was dropped meanwhile. `full`: the space alone needs more memory than its bound. */
export type Outcome = 'done' | 'absent' | 'full';

/** Bounds of the index: bytes and number of spaces in total, and in `owners` for each owner. */
export type SpacesBounds = {
  readonly bytes: number;
  readonly spaces: number;
  readonly owners: { readonly bytes: number; readonly spaces: number };
};

/** Returns the bounds of the index. `ownerShare` bounds an owner's memory and number of spaces. */
export const spacesBounds = (bytes: number, ownerShare = 1): SpacesBounds => ({
  bytes,
  spaces: MEMORY_LIMITS.index.spaces,
  owners: { bytes: bytes * ownerShare, spaces: Math.ceil(MEMORY_LIMITS.index.spaces * ownerShare) },
});

type Owned = {
  readonly key: number;
  readonly owner: number;
  readonly space: Space;
  /** Number of the space's last use. The space with the smallest number was used longest ago. */
  lastUse: number;
};

/**
 * Keeps the spaces of the index within the bounds of their memory and number. A space that needs memory takes it from the
 * spaces that were used longest ago, or from its owner's spaces once that owner has its share.
 */
export class Spaces {
  readonly #arena: Arena;
  readonly #bounds: SpacesBounds;
  readonly #ownerBlocks: number;
  readonly #spaces = new Map<number, Owned>();
  readonly #byOwner = new Map<number, Set<Owned>>();
  /** Number of uses of all spaces so far. A space gets this number when it is used. */
  #uses = 0;
  #evicted: number[] = [];
  #releasing = 0;

  constructor(bounds: SpacesBounds) {
    this.#bounds = bounds;
    this.#arena = new Arena(bounds.bytes);
    this.#ownerBlocks = Math.floor(bounds.owners.bytes / BLOCK_BYTES);
  }

  /** Returns the bytes of memory in use, in whole blocks. */
  get bytes(): number {
    return this.#arena.bytes;
  }

  /** Returns the whole memory, for tests that check whether anything is left in it. */
  get memory(): Uint8Array {
    return this.#arena.u8;
  }

  /** Returns the spaces that were evicted since the last call. */
  takeEvicted(): readonly number[] {
    const evicted = this.#evicted;
    this.#evicted = [];
    return evicted;
  }

  *open(key: number, { dims, owner }: { dims: number; owner: number }): Steps<void> {
    const { owners, spaces } = this.#bounds;
    while ((this.#byOwner.get(owner)?.size ?? 0) >= owners.spaces) yield* this.#evict({ owner });
    while (this.#spaces.size >= spaces) yield* this.#evict({});
    const space = new Space(this.#arena, dims);
    const owned: Owned = { key, owner, space, lastUse: ++this.#uses };
    this.#spaces.set(key, owned);
    this.#byOwner.set(owner, (this.#byOwner.get(owner) ?? new Set()).add(owned));
  }

  /**
   * Adds rows and replaces rows with the same ids. Adds none of the rows when one is invalid or the space is full; a full space
   * is dropped.
   */
  *add(key: number, packed: PackedRows): Steps<Outcome> {
    const owned = this.#use(key);
    if (owned === undefined) return 'absent';
    const { space } = owned;
    const rows = unpack(packed, space.dims);
    yield* this.#removeKnown(space, rows);
    if (!(yield* this.#makeRoom(owned, rows.length))) {
      yield* this.drop(key);
      return 'full';
    }
    if (space.isGone) return 'absent';
    for (const row of rows) space.append(row);
    return 'done';
  }

  *remove(key: number, ids: readonly number[]): Steps<Outcome> {
    const space = this.#use(key)?.space;
    if (space === undefined) return 'absent';
    yield* removeRows(space, ids);
    return space.isGone ? 'absent' : 'done';
  }

  /** Drops a space. Its memory holds zeros when this ends. */
  *drop(key: number): Steps<void> {
    const owned = this.#spaces.get(key);
    if (owned !== undefined) yield* this.#release(owned);
  }

  *search(key: number, query: SpaceQuery): Steps<Found[] | 'absent'> {
    const space = this.#use(key)?.space;
    if (space === undefined) return 'absent';
    return (yield* searchSpace(this.#arena, space, query)) ?? 'absent';
  }

  #use(key: number): Owned | undefined {
    const owned = this.#spaces.get(key);
    if (owned !== undefined) owned.lastUse = ++this.#uses;
    return owned;
  }

  #leave(owned: Owned): void {
    const { key, owner } = owned;
    this.#spaces.delete(key);
    const siblings = this.#byOwner.get(owner);
    siblings?.delete(owned);
    if (siblings?.size === 0) this.#byOwner.delete(owner);
  }

  /**
   * Removes rows whose ids are added again. New rows usually have higher ids than all known rows, so that none is looked for.
   */
  *#removeKnown(space: Space, rows: readonly Row[]): Steps<void> {
    const known = rows.map(({ id }) => id).filter((id) => id <= space.highestId);
    yield* removeRows(space, known);
  }

  /** Evicts other spaces until new rows fit. Returns false when the space alone exceeds its owner's share or the memory. */
  *#makeRoom({ key, owner, space }: Owned, rows: number): Steps<boolean> {
    const most = Math.min(this.#arena.most, this.#ownerBlocks);
    if (space.blocks + space.lacks(rows) > most) return false;
    while (!space.isGone && this.#blocksOf(owner) + space.lacks(rows) > this.#ownerBlocks) {
      yield* this.#evict({ owner, but: key });
    }
    while (!space.isGone && !this.#arena.reserve(space.lacks(rows))) {
      // The spaces that are being released may free enough memory.
      if (this.#releasing > 0) yield;
      else if (!(yield* this.#evict({ but: key, holds: true }))) return false;
    }
    return true;
  }

  #blocksOf(owner: number): number {
    let blocks = 0;
    for (const { space } of this.#byOwner.get(owner) ?? []) blocks += space.blocks;
    return blocks;
  }

  /** Evicts the space that was used longest ago, of one owner or of all owners. Returns false when no other space exists. */
  *#evict(which: { owner?: number; but?: number; holds?: boolean }): Steps<boolean> {
    const { but, holds = false, owner } = which;
    const some = owner === undefined ? this.#spaces.values() : (this.#byOwner.get(owner) ?? []);
    let oldest: Owned | undefined;
    for (const owned of some) {
      if (owned.key === but || (holds && owned.space.blocks === 0)) continue;
      if (owned.lastUse < (oldest?.lastUse ?? Infinity)) oldest = owned;
    }
    if (oldest === undefined) return false;
    this.#evicted.push(oldest.key);
    yield* this.#release(oldest);
    return true;
  }

  *#release(owned: Owned): Steps<void> {
    this.#leave(owned);
    this.#releasing++;
    yield* owned.space.release();
    this.#releasing--;
  }
}

/**
 * Returns the rows of a message. Refuses all of them when one is no unit vector. Of rows with the same id, the last row counts.
 */
function unpack({ ids, tags, vectors }: PackedRows, dims: number): Row[] {
  const rows = new Map<number, Row>();
  for (const [i, id] of ids.entries()) {
    const vector = vectors.subarray(i * dims, (i + 1) * dims);
    if (!isShort(vector)) throw new EngineInputRefused(`the vector of row ${id} is no unit vector`);
    rows.set(id, { id, tag: tags[i] ?? 0, vector });
  }
  return [...rows.values()];
}

function* removeRows(space: Space, ids: readonly number[]): Steps<void> {
  if (ids.length === 0) return;
  const rows = yield* space.find(new Set(ids));
  // The last row moves into the place of a removed row, so rows are removed from the end.
  for (const [done, row] of rows?.reverse().entries() ?? []) {
    if (done > 0 && done % REMOVED_A_STEP === 0) yield;
    if (space.isGone) return;
    space.removeAt(row);
  }
}
