import { LIMITS } from '../../kernel/limits.ts';
import { type Arena, SCAN_ROWS, SCRATCH } from './arena.ts';
import { BLOCK_BYTES, type BlockLayout, GROUP_ROWS, layoutOf } from './block-layout.ts';
import { type PreparedQuery, quantiseRow } from './quantise.ts';

/** Work that is done in steps of half a millisecond or so. */
export type Steps<T> = Generator<void, T, void>;

const { indexStepBytes } = LIMITS.memory;
/** Ids that are looked at in one step. */
const IDS_A_STEP = 65_536;

/** The vectors of one space, in blocks without a gap: the last row moves to where one is removed. */
export class Space {
  readonly layout: BlockLayout;
  readonly #arena: Arena;
  #blocks: number[] = [];
  #rows = 0;
  #highestId = 0;
  #isGone = false;

  constructor(arena: Arena, dims: number) {
    this.#arena = arena;
    this.layout = layoutOf(dims);
  }

  get rows(): number {
    return this.#rows;
  }

  get blocks(): number {
    return this.#blocks.length;
  }

  /** It was given back: none of what it had is there, and its memory may be another space's. */
  get isGone(): boolean {
    return this.#isGone;
  }

  /** No row of it has a higher id. */
  get highestId(): number {
    return this.#highestId;
  }

  /** The blocks that it lacks for so many rows more. */
  lacks(rows: number): number {
    return Math.max(0, Math.ceil((this.#rows + rows) / this.layout.rows) - this.#blocks.length);
  }

  /** Adds a row to the end, for which a block was reserved. */
  append(id: number, tag: number, vector: Float32Array): void {
    const arena = this.#arena;
    const { errorsAt, exactAt, idsAt, scalesAt, stride, tagsAt } = this.layout;
    if (this.lacks(1) > 0) this.#blocks.push(arena.take());
    const { block, place } = this.#placeOf(this.#rows++);
    const coarseAt = block + place * stride;
    const { error, scale } = quantiseRow(vector, arena.i8.subarray(coarseAt, coarseAt + stride));
    arena.f32.set(vector, (block + exactAt) / 4 + place * stride);
    arena.f64[(block + idsAt) / 8 + place] = id;
    arena.f32[(block + scalesAt) / 4 + place] = scale;
    arena.f32[(block + errorsAt) / 4 + place] = error;
    arena.u8[block + tagsAt + place] = tag;
    this.#highestId = Math.max(this.#highestId, id);
  }

  /** Overwrites a row with the last one, and that one with zeros. */
  removeAt(row: number): void {
    const last = this.#rows - 1;
    if (row !== last) this.#move(last, row);
    this.#wipe(last);
    this.#rows--;
    const needed = Math.ceil(this.#rows / this.layout.rows);
    if (this.#blocks.length > needed) this.#arena.give(this.#blocks.pop() ?? 0);
  }

  idAt(row: number): number {
    const { block, place } = this.#placeOf(row);
    return this.#arena.f64[(block + this.layout.idsAt) / 8 + place] ?? 0;
  }

  tagAt(row: number): number {
    const { block, place } = this.#placeOf(row);
    return this.#arena.u8[block + this.layout.tagsAt + place] ?? 0;
  }

  errorAt(row: number): number {
    const { block, place } = this.#placeOf(row);
    return this.#arena.f32[(block + this.layout.errorsAt) / 4 + place] ?? 0;
  }

  /** The exact product of a row with the query in the scratch block. */
  scoreAt(row: number): number {
    const { block, place } = this.#placeOf(row);
    const { exactAt, stride } = this.layout;
    const at = block + exactAt + place * stride * 4;
    return this.#arena.kernel.score(at, SCRATCH.exactQuery, stride);
  }

  /** The rows with these ids, in no order of theirs; undefined when the space went meanwhile. */
  *find(ids: ReadonlySet<number>): Steps<number[] | undefined> {
    const { idsAt, rows } = this.layout;
    const found: number[] = [];
    let looked = 0;
    for (let block = 0; block < this.#blocks.length && found.length < ids.size; block++) {
      const first = block * rows;
      const at = ((this.#blocks[block] ?? 0) + idsAt) / 8;
      const count = Math.min(rows, this.#rows - first);
      const { f64 } = this.#arena;
      for (let place = 0; place < count; place++) {
        if (ids.has(f64[at + place] ?? 0)) found.push(first + place);
      }
      looked += count;
      if (looked < IDS_A_STEP) continue;
      looked = 0;
      yield;
      if (this.#isGone) return undefined;
    }
    return found;
  }

  /**
   * Scans blocks from `first` on, one call of the kernel, for rows that may score `least`. They are the first `count` pairs
   * of the scratch block's candidates, and numbered from the first row of `first`.
   */
  scan(query: PreparedQuery, first: number, least: number): { blocks: number; count: number } {
    const { kernel, u32 } = this.#arena;
    const { errorsAt, rows, scalesAt, stride } = this.layout;
    const blocks = Math.min(this.#blocks.length - first, Math.floor(SCAN_ROWS / rows));
    for (let i = 0; i < blocks; i++) u32[SCRATCH.blocks / 4 + i] = this.#blocks[first + i] ?? 0;
    const left = Math.min(blocks * rows, this.#rows - first * rows);
    const end = kernel.scan(
      SCRATCH.blocks,
      Math.ceil(left / GROUP_ROWS),
      rows / GROUP_ROWS,
      SCRATCH.coarseQuery,
      stride,
      scalesAt,
      errorsAt,
      query.scale,
      query.wide,
      query.slack,
      least,
      SCRATCH.candidates,
    );
    return { blocks, count: (end - SCRATCH.candidates) / 8 };
  }

  /** Gives all blocks back, zeroed. The space is gone from the first step on. */
  *release(): Steps<void> {
    const blocks = this.#blocks;
    this.#isGone = true;
    this.#blocks = [];
    this.#rows = 0;
    const atOnce = indexStepBytes / BLOCK_BYTES;
    for (const [done, block] of blocks.entries()) {
      if (done > 0 && done % atOnce === 0) yield;
      this.#arena.give(block);
    }
  }

  #placeOf(row: number): { readonly block: number; readonly place: number } {
    const { rows } = this.layout;
    const place = row % rows;
    return { block: this.#blocks[(row - place) / rows] ?? 0, place };
  }

  /** The bytes of each part of a row, as distances from its block. */
  #partsOf(place: number): readonly (readonly [at: number, bytes: number])[] {
    const { errorsAt, exactAt, idsAt, scalesAt, stride, tagsAt } = this.layout;
    return [
      [place * stride, stride],
      [exactAt + place * stride * 4, stride * 4],
      [idsAt + place * 8, 8],
      [scalesAt + place * 4, 4],
      [errorsAt + place * 4, 4],
      [tagsAt + place, 1],
    ];
  }

  #move(from: number, to: number): void {
    const source = this.#placeOf(from);
    const target = this.#placeOf(to);
    const targets = this.#partsOf(target.place);
    for (const [i, [at, bytes]] of this.#partsOf(source.place).entries()) {
      const start = source.block + at;
      this.#arena.u8.copyWithin(target.block + (targets[i]?.[0] ?? 0), start, start + bytes);
    }
  }

  #wipe(row: number): void {
    const { block, place } = this.#placeOf(row);
    for (const [at, bytes] of this.#partsOf(place)) {
      this.#arena.u8.fill(0, block + at, block + at + bytes);
    }
  }
}
