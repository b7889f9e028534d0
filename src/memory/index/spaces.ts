import { EngineInputRefused } from '../../engines/engine.ts';
import { Arena } from './arena.ts';
import type { Row } from './extent.ts';
import { searchSpace } from './search-space.ts';
import { Space, type Steps } from './space.ts';
import type { Found, SpaceQuery } from './space-query.ts';
import { isShort } from './unit-length.ts';

/** Rows as they travel: the vectors lie one behind the other. */
export type PackedRows = {
  readonly ids: Float64Array;
  readonly tags: Uint8Array;
  readonly vectors: Float32Array;
};

/** Each of them moves another row. */
const REMOVED_A_STEP = 128;

/** `absent`: the space is not here, or went meanwhile. `full`: it alone needs more memory than there may be. */
export type Outcome = 'done' | 'absent' | 'full';

/** The spaces of the index within the bound of its memory: one that needs room takes it of those that were used longest ago. */
export class Spaces {
  readonly #arena: Arena;
  readonly #spaces = new Map<number, Space>();
  /** A space is stamped with their number when it is used. */
  #uses = 0;
  #evicted: number[] = [];
  #releasing = 0;

  constructor(bytes: number) {
    this.#arena = new Arena(bytes);
  }

  /** The memory in use, in whole blocks. */
  get bytes(): number {
    return this.#arena.bytes;
  }

  /** The whole memory, for tests that look whether anything is left in it. */
  get memory(): Uint8Array {
    return this.#arena.u8;
  }

  /** The spaces that had to go since this was asked for the last time. */
  takeEvicted(): readonly number[] {
    const evicted = this.#evicted;
    this.#evicted = [];
    return evicted;
  }

  open(key: number, dims: number): void {
    this.#spaces.set(key, new Space(this.#arena, dims));
    this.#use(key);
  }

  /** Adds rows, in place of those with the same ids. What is refused, and a space that is full, leaves none of the rows. */
  *add(key: number, packed: PackedRows): Steps<Outcome> {
    const space = this.#use(key);
    if (space === undefined) return 'absent';
    const rows = unpack(packed, space.dims);
    yield* this.#removeKnown(space, rows);
    if (!(yield* this.#makeRoom(space, rows.length))) {
      yield* this.drop(key);
      return 'full';
    }
    if (space.isGone) return 'absent';
    for (const row of rows) space.append(row);
    return 'done';
  }

  *remove(key: number, ids: readonly number[]): Steps<Outcome> {
    const space = this.#use(key);
    if (space === undefined) return 'absent';
    yield* removeRows(space, ids);
    return space.isGone ? 'absent' : 'done';
  }

  /** Forgets the space; when this ends its memory is zeros. */
  *drop(key: number): Steps<void> {
    const space = this.#spaces.get(key);
    this.#spaces.delete(key);
    if (space !== undefined) yield* this.#release(space);
  }

  *search(key: number, query: SpaceQuery): Steps<Found[] | 'absent'> {
    const space = this.#use(key);
    if (space === undefined) return 'absent';
    return (yield* searchSpace(this.#arena, space, query)) ?? 'absent';
  }

  #use(key: number): Space | undefined {
    const space = this.#spaces.get(key);
    if (space !== undefined) space.lastUse = ++this.#uses;
    return space;
  }

  /** New rows usually have higher ids than all that are known: then there is nothing to look for. */
  *#removeKnown(space: Space, rows: readonly Row[]): Steps<void> {
    const known = rows.map(({ id }) => id).filter((id) => id <= space.highestId);
    yield* removeRows(space, known);
  }

  /** False when the space alone would be larger than all the memory. */
  *#makeRoom(space: Space, rows: number): Steps<boolean> {
    if (space.blocks + space.lacks(rows) > this.#arena.most) return false;
    while (!space.isGone && !this.#arena.reserve(space.lacks(rows))) {
      // What goes already may be enough.
      if (this.#releasing > 0) yield;
      else if (!(yield* this.#evictOldestBut(space))) return false;
    }
    return true;
  }

  /** False when there is no other space. */
  *#evictOldestBut(kept: Space): Steps<boolean> {
    let oldest: readonly [number, Space] | undefined;
    for (const entry of this.#spaces) {
      const [, space] = entry;
      if (space !== kept && space.lastUse < (oldest?.[1].lastUse ?? Infinity)) oldest = entry;
    }
    if (oldest === undefined) return false;
    const [key, space] = oldest;
    this.#spaces.delete(key);
    this.#evicted.push(key);
    yield* this.#release(space);
    return true;
  }

  *#release(space: Space): Steps<void> {
    this.#releasing++;
    yield* space.release();
    this.#releasing--;
  }
}

/** Refuses them all when one of them is no unit vector. Of rows with the same id the last one counts. */
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
  // The last row takes the place of one that goes, so the last one goes first.
  for (const [done, row] of rows?.reverse().entries() ?? []) {
    if (done > 0 && done % REMOVED_A_STEP === 0) yield;
    if (space.isGone) return;
    space.removeAt(row);
  }
}
