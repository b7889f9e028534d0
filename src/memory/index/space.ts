import { assert } from '../../kernel/assert.ts';
import { MEMORY_LIMITS } from '../limits.ts';
import type { Arena } from './arena.ts';
import { BLOCK_BYTES, layoutOf } from './block-layout.ts';
import { Extent, type Row } from './extent.ts';

/** Work that is divided into steps of about half a millisecond at most. */
export type Steps<T> = Generator<void, T, void>;

/** Number of ids that one step compares. */
const IDS_A_STEP = 65_536;
const BLOCKS_A_STEP = MEMORY_LIMITS.index.stepBytes / BLOCK_BYTES;
/** Share of its size by which a large space grows: a quarter, up to `MOST_GROWTH_BLOCKS`. Longer extents are read faster. */
const GROWTH_SHARE = 4;
const MOST_GROWTH_BLOCKS = 32;

/** The vectors of one space, without a gap: the last row moves into the place of a removed row. */
export class Space {
  readonly dims: number;
  /** Number of numbers in a row, including the zeros at its end. */
  readonly stride: number;
  readonly #arena: Arena;
  readonly #rowsOfBlock: number;
  #extents: Extent[] = [];
  #blocks = 0;
  /** Number of rows that fit into the extents. */
  #room = 0;
  #rows = 0;
  #highestId = 0;
  #isGone = false;

  constructor(arena: Arena, dims: number) {
    const { rows, stride } = layoutOf(dims);
    this.#arena = arena;
    this.dims = dims;
    this.stride = stride;
    this.#rowsOfBlock = rows;
  }

  get rows(): number {
    return this.#rows;
  }

  get blocks(): number {
    return this.#blocks;
  }

  /** True when the space has released its memory, which may belong to another space now. */
  get isGone(): boolean {
    return this.#isGone;
  }

  /** Upper bound of the ids of all rows. */
  get highestId(): number {
    return this.#highestId;
  }

  /** Returns an upper bound of the blocks that `rows` more rows need. */
  lacks(rows: number): number {
    return Math.max(0, Math.ceil((this.#rows + rows - this.#room) / this.#rowsOfBlock));
  }

  /** Appends a row. A block must have been reserved when the space has no room. */
  append(row: Row): void {
    if (this.#rows === this.#room) this.#grow();
    const last = this.#extents.at(-1);
    assert(last !== undefined, 'a space that has grown has an extent');
    last.write(this.#rows - last.first, row);
    this.#rows++;
    this.#highestId = Math.max(this.#highestId, row.id);
  }

  /** Overwrites a row with the last row, and the last row with zeros. */
  removeAt(row: number): void {
    const last = this.#rows - 1;
    const source = this.extentOf(last);
    const target = this.extentOf(row);
    if (row !== last) target.copy(row - target.first, source, last - source.first);
    source.wipe(last - source.first);
    this.#rows--;
    if (this.#rows > source.first) return;
    this.#extents.pop();
    this.#blocks -= source.blocks;
    this.#room = source.first;
    this.#arena.give(source);
  }

  idAt(row: number): number {
    const extent = this.extentOf(row);
    return extent.idAt(row - extent.first);
  }

  tagAt(row: number): number {
    const extent = this.extentOf(row);
    return extent.tagAt(row - extent.first);
  }

  errorAt(row: number): number {
    const extent = this.extentOf(row);
    return extent.errorAt(row - extent.first);
  }

  /** Returns the exact product of a row with the query in the scratch block. */
  scoreAt(row: number): number {
    const extent = this.extentOf(row);
    return extent.scoreAt(row - extent.first);
  }

  /** Returns the row numbers of these ids, in ascending order. Undefined when the space was released meanwhile. */
  *find(ids: ReadonlySet<number>): Steps<number[] | undefined> {
    const found: number[] = [];
    for (let row = 0; row < this.#rows && found.length < ids.size; ) {
      const end = Math.min(this.#rows, row + IDS_A_STEP);
      while (row < end) {
        const extent = this.extentOf(row);
        const stop = Math.min(end, extent.first + extent.layout.rows);
        for (; row < stop; row++) if (ids.has(extent.idAt(row - extent.first))) found.push(row);
      }
      if (row >= this.#rows) break;
      yield;
      if (this.#isGone) return undefined;
    }
    return found;
  }

  /** Gives all blocks back, overwritten with zeros. The space counts as gone from the first step on. */
  *release(): Steps<void> {
    const extents = this.#extents;
    this.#isGone = true;
    this.#extents = [];
    this.#blocks = 0;
    this.#room = 0;
    this.#rows = 0;
    let given = 0;
    for (const extent of extents) {
      if (given >= BLOCKS_A_STEP) {
        given = 0;
        yield;
      }
      this.#arena.give(extent);
      given += extent.blocks;
    }
  }

  #grow(): void {
    const share = Math.min(this.#blocks / GROWTH_SHARE, MOST_GROWTH_BLOCKS);
    const run = this.#arena.take(2 ** Math.floor(Math.log2(Math.max(1, share))));
    const extent = new Extent(this.#arena, run, this.#rows, layoutOf(this.dims, run.blocks));
    this.#extents.push(extent);
    this.#blocks += run.blocks;
    this.#room += extent.layout.rows;
  }

  /** Loads the parts of each row that a search reads into the processor's cache. For small spaces, which are seldom cached. */
  touch(): void {
    for (const extent of this.#extents) extent.touch();
  }

  /** Returns the extent that contains a row. */
  extentOf(row: number): Extent {
    let low = 0;
    let high = this.#extents.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#extents[middle]?.first ?? 0) <= row) low = middle;
      else high = middle - 1;
    }
    const extent = this.#extents[low];
    assert(extent !== undefined, 'a space has an extent for each of its rows');
    return extent;
  }
}
