import { BLOCK_BYTES } from './block-layout.ts';
import { type IndexKernel, startIndexKernel } from './index-kernel.ts';
import { LONGEST } from './unit-length.ts';

/** Largest number of rows that one call of the kernel may report. */
export const SCAN_ROWS = 2_048;
/** The memory grows by this number of blocks, or by an eighth of its size: each growth makes the views below anew. */
const GROWTH_BLOCKS = 256;
/** Largest number of blocks of a WebAssembly memory. The first block is scratch. */
const MOST_BLOCKS = 65_535;

/** Offsets in the scratch block: a query of up to MEMORY_LIMITS.index.dims numbers, and the results of a scan. */
export const SCRATCH = {
  /** Offset of the query's vector, in Float32. */
  query: 0,
  /** Offset of the query's coarse form, in Int16. */
  coarseQuery: 12_288,
  /** Offset of the query's vector, in Float64. */
  exactQuery: 18_432,
  /** Offset of the rows that a scan found: pairs of an Int32 (the row) and a Float32 (its highest possible score). */
  candidates: 43_008,
  /** Offset of the scale and the error of the coarse form, two Float32 numbers. */
  scaleAndError: 61_440,
} as const;

/** Addition to a bound: several times the rounding error of the kernel's Float32 arithmetic. */
const ROUNDING = 2e-6;

/** Factors that turn a row's coarse whole-number score into a score, and bound its distance from the exact score. */
export type CoarseQuery = {
  readonly scale: number;
  /**
   * Factor of the row's error. The score is off by at most `wide` times that error plus `slack`, because the product of a
   * vector with another vector's error is at most the product of their lengths.
   */
  readonly wide: number;
  readonly slack: number;
};

/** Contiguous blocks of memory. */
export type Run = { readonly address: number; readonly blocks: number };

/** Memory of the index, in blocks. Blocks hold zeros when they are taken, and again after they were given back. */
export class Arena {
  readonly kernel: IndexKernel;
  u8!: Uint8Array;
  i32!: Int32Array;
  f32!: Float32Array;
  f64!: Float64Array;
  /** State of each block of the memory: 1 when it is taken, 0 when it is free. The scratch block is taken. */
  readonly #isTaken: Uint8Array;
  #grown = 0;
  #free = 0;
  #most: number;

  constructor(bytes: number) {
    this.#most = Math.min(MOST_BLOCKS, Math.floor(bytes / BLOCK_BYTES));
    this.#isTaken = new Uint8Array(this.#most + 1).fill(1);
    this.kernel = startIndexKernel();
    this.#look();
  }

  /** Number of bytes in the taken blocks. */
  get bytes(): number {
    return (this.#grown - this.#free) * BLOCK_BYTES;
  }

  /** Largest number of blocks that the arena can have. */
  get most(): number {
    return this.#most;
  }

  /** Grows the memory until `blocks` blocks are free. Returns false when it cannot grow that far. */
  reserve(blocks: number): boolean {
    while (this.#free < blocks) if (!this.#grow()) return false;
    return true;
  }

  /**
   * Takes `wanted` blocks in a row, or fewer when no such run exists, but at least one block. The blocks must have been
   * reserved.
   */
  take(wanted: number): Run {
    for (let blocks = wanted; blocks >= 1; blocks >>= 1) {
      let first = this.#findRun(blocks);
      if (first === undefined && this.#grow()) first = this.#findRun(blocks);
      if (first === undefined) continue;
      this.#isTaken.fill(1, first, first + blocks);
      this.#free -= blocks;
      return { address: first * BLOCK_BYTES, blocks };
    }
    throw new Error('assertion failed: blocks of the index are reserved before they are taken');
  }

  /** Gives blocks back, overwritten with zeros. */
  give({ address, blocks }: Run): void {
    const first = address / BLOCK_BYTES;
    this.u8.fill(0, address, address + blocks * BLOCK_BYTES);
    this.#isTaken.fill(0, first, first + blocks);
    this.#free += blocks;
  }

  /** Puts a query into the scratch block, padded to the length of rows with this stride. */
  prepare(vector: Float32Array, stride: number): CoarseQuery {
    const { f32, kernel } = this;
    f32.set(vector, SCRATCH.query / 4);
    f32.fill(0, SCRATCH.query / 4 + vector.length, SCRATCH.query / 4 + stride);
    const scaleAt = SCRATCH.scaleAndError;
    const { coarseQuery, exactQuery, query } = SCRATCH;
    kernel.prepare(query, stride, coarseQuery, exactQuery, scaleAt, scaleAt + 4);
    const scale = f32[scaleAt / 4] ?? 0;
    const error = f32[scaleAt / 4 + 1] ?? 0;
    return { scale, wide: LONGEST + error, slack: LONGEST * error + ROUNDING };
  }

  /** Overwrites the query and the results of its scan in the scratch block with zeros. */
  wipeScratch(stride: number): void {
    this.u8.fill(0, SCRATCH.query, SCRATCH.query + 4 * stride);
    this.u8.fill(0, SCRATCH.coarseQuery, SCRATCH.coarseQuery + 2 * stride);
    this.u8.fill(0, SCRATCH.exactQuery, SCRATCH.exactQuery + 8 * stride);
    this.u8.fill(0, SCRATCH.candidates, BLOCK_BYTES);
  }

  #grow(): boolean {
    const wanted = Math.max(GROWTH_BLOCKS, this.#grown >> 3);
    const more = Math.min(wanted, this.#most - this.#grown);
    if (more <= 0) return false;
    const first = this.kernel.grow(more);
    if (first < 0) {
      // The system has no more memory, so that the present size becomes the limit.
      this.#most = this.#grown;
      return false;
    }
    this.#isTaken.fill(0, first, first + more);
    this.#grown += more;
    this.#free += more;
    this.#look();
    return true;
  }

  #findRun(blocks: number): number | undefined {
    const taken = this.#isTaken;
    for (let first = taken.indexOf(0); first >= 0; ) {
      const next = taken.indexOf(1, first);
      const end = next < 0 ? taken.length : next;
      if (end - first >= blocks) return first;
      first = taken.indexOf(0, end);
    }
    return undefined;
  }

  #look(): void {
    const { buffer } = this.kernel.memory;
    this.u8 = new Uint8Array(buffer);
    this.i32 = new Int32Array(buffer);
    this.f32 = new Float32Array(buffer);
    this.f64 = new Float64Array(buffer);
  }
}
