import { LIMITS } from '../../kernel/limits.ts';
import { turnForLongWork } from '../../kernel/long-work.ts';
import type { Found, IndexedRow, SpaceQuery, VectorIndex } from '../index/vector-index.ts';

/** Rows that are compared in one turn of the event loop: about a millisecond of 512 numbers each. */
const ROWS_PER_TURN = 2_048;
const FIRST_ROWS = 64;
/** How often a search begins anew because rows have moved under it; after that it takes what it finds. */
const TRIES = 3;

type LoadedSpace = {
  readonly dims: number;
  version: number;
  ids: number[];
  tags: number[];
  vectors: Float32Array;
  rowOf: Map<number, number>;
  /** Rises when rows move. */
  moves: number;
};

/** A vector index in this thread, for where there is no other. `mostBytes` bounds it: spaces that were not asked for make room. */
export class PlainIndex implements VectorIndex {
  readonly #mostBytes: number;
  /** The space that was asked for last stands last. */
  readonly #spaces = new Map<number, LoadedSpace>();
  #bytes = 0;

  constructor(mostBytes: number = LIMITS.memory.indexBytes) {
    this.#mostBytes = mostBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  versionOf(spaceId: number): number | undefined {
    return this.#spaces.get(spaceId)?.version;
  }

  async load(
    spaceId: number,
    dims: number,
    version: number,
    rows: AsyncIterable<readonly IndexedRow[]>,
  ): Promise<void> {
    const space = emptySpace(dims, version);
    for await (const piece of rows) append(space, piece);
    this.#forget(spaceId);
    this.#spaces.set(spaceId, space);
    this.#bytes += space.vectors.byteLength;
    this.#makeRoom(spaceId);
  }

  async add(spaceId: number, version: number, rows: readonly IndexedRow[]): Promise<void> {
    const space = this.#spaces.get(spaceId);
    if (space === undefined) return;
    this.#bytes -= space.vectors.byteLength;
    append(space, rows);
    this.#bytes += space.vectors.byteLength;
    space.version = version;
    this.#makeRoom(spaceId);
  }

  async remove(spaceId: number, version: number, ids: readonly number[]): Promise<void> {
    const space = this.#spaces.get(spaceId);
    if (space === undefined) return;
    for (const id of ids) removeRow(space, id);
    space.version = version;
  }

  async drop(spaceId: number): Promise<void> {
    this.#forget(spaceId);
  }

  async search(spaceId: number, query: SpaceQuery): Promise<Found[]> {
    const space = this.#spaces.get(spaceId);
    if (space === undefined) throw new Error('the space is not loaded');
    this.#spaces.delete(spaceId);
    this.#spaces.set(spaceId, space);
    return search(space, query);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const id of [...this.#spaces.keys()]) this.#forget(id);
  }

  #forget(spaceId: number): void {
    const space = this.#spaces.get(spaceId);
    if (space === undefined) return;
    this.#spaces.delete(spaceId);
    this.#bytes -= space.vectors.byteLength;
    space.vectors.fill(0);
    space.ids = [];
    space.moves++;
  }

  #makeRoom(kept: number): void {
    for (const id of [...this.#spaces.keys()]) {
      if (this.#bytes <= this.#mostBytes) return;
      if (id !== kept) this.#forget(id);
    }
  }
}

function append(space: LoadedSpace, rows: readonly IndexedRow[]): void {
  for (const { id, tag, vector } of rows) {
    if (space.rowOf.has(id)) continue;
    const row = space.ids.length;
    if ((row + 1) * space.dims > space.vectors.length) grow(space);
    space.vectors.set(vector, row * space.dims);
    space.rowOf.set(id, row);
    space.ids.push(id);
    space.tags.push(tag);
  }
}

const emptySpace = (dims: number, version: number): LoadedSpace => ({
  ...{ dims, version, ids: [], tags: [], moves: 0 },
  vectors: new Float32Array(FIRST_ROWS * dims),
  rowOf: new Map(),
});

function grow(space: LoadedSpace): void {
  const old = space.vectors;
  space.vectors = new Float32Array(old.length * 2);
  space.vectors.set(old);
  old.fill(0);
}

/** The last row takes the place of the one that goes, and its own is overwritten. */
function removeRow(space: LoadedSpace, id: number): void {
  const row = space.rowOf.get(id);
  if (row === undefined) return;
  const { dims, ids, rowOf, tags, vectors } = space;
  const last = ids.length - 1;
  vectors.copyWithin(row * dims, last * dims, (last + 1) * dims);
  vectors.fill(0, last * dims, (last + 1) * dims);
  const moved = ids[last] ?? id;
  ids[row] = moved;
  tags[row] = tags[last] ?? 0;
  rowOf.set(moved, row);
  rowOf.delete(id);
  ids.pop();
  tags.pop();
  space.moves++;
}

async function search(space: LoadedSpace, query: SpaceQuery): Promise<Found[]> {
  for (let tries = 1; ; tries++) {
    const { moves } = space;
    const found = await compareAll(space, query);
    if (space.moves === moves || tries === TRIES) return found;
  }
}

async function compareAll(space: LoadedSpace, query: SpaceQuery): Promise<Found[]> {
  const { among, k, tag, vector } = query;
  const rows = among?.flatMap((id) => space.rowOf.get(id) ?? []);
  const best: Found[] = [];
  for (let at = 0; at < (rows?.length ?? space.ids.length); at++) {
    if (at > 0 && at % ROWS_PER_TURN === 0) await turnForLongWork();
    const row = rows === undefined ? at : (rows[at] ?? 0);
    const id = space.ids[row];
    if (id === undefined || (tag !== undefined && space.tags[row] !== tag)) continue;
    keep(best, { id, score: dot(space.vectors, row * space.dims, vector) }, k);
  }
  return best;
}

function dot(vectors: Float32Array, from: number, vector: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < vector.length; i++) sum += (vectors[from + i] ?? 0) * (vector[i] ?? 0);
  return sum;
}

const isBetter = (a: Found, b: Found): boolean =>
  a.score > b.score || (a.score === b.score && a.id < b.id);

/** Puts a row into its place among the best, of which there are `most`. */
function keep(best: Found[], found: Found, most: number): void {
  const last = best.at(-1);
  if (best.length >= most && last !== undefined && !isBetter(found, last)) return;
  let place = best.length;
  while (place > 0 && isBetter(found, best[place - 1] as Found)) place--;
  best.splice(place, 0, found);
  if (best.length > most) best.pop();
}
