import { assert } from '../../kernel/assert.ts';
import { BLOCK_BYTES, GROUP_ROWS } from './block-layout.ts';
import { type IndexKernel, startIndexKernel } from './index-kernel.ts';

/** Rows whose candidates one call of the kernel may write. */
export const SCAN_ROWS = 2_048;
/** Blocks that are asked of the system at a time: each time the views below are made anew. */
const GROWTH_BLOCKS = 256;
/** A memory of WebAssembly has so many, and the first one is scratch. */
const MOST_BLOCKS = 65_535;

/** Where things lie in the scratch block. */
export const SCRATCH = {
  /** Int16, up to LIMITS.memory.indexDims. */
  coarseQuery: 0,
  /** Float64. */
  exactQuery: 8_192,
  /** Uint32 addresses, one for each group at most. */
  blocks: 40_960,
  /** Pairs of an Int32 and a Float32. */
  candidates: 40_960 + (4 * SCAN_ROWS) / GROUP_ROWS,
} as const;

/** The memory behind the index: blocks that are all zeros when they are taken and again when they were given back. */
export class Arena {
  readonly kernel: IndexKernel;
  i8!: Int8Array;
  u8!: Uint8Array;
  i16!: Int16Array;
  i32!: Int32Array;
  u32!: Uint32Array;
  f32!: Float32Array;
  f64!: Float64Array;
  readonly #free: number[] = [];
  #grown = 0;
  #most: number;

  constructor(bytes: number) {
    this.#most = Math.min(MOST_BLOCKS, Math.floor(bytes / BLOCK_BYTES));
    this.kernel = startIndexKernel();
    this.#look();
  }

  /** Of the blocks that are taken. */
  get bytes(): number {
    return (this.#grown - this.#free.length) * BLOCK_BYTES;
  }

  /** Blocks that there can be. */
  get most(): number {
    return this.#most;
  }

  /** Whether so many blocks can be taken now. */
  reserve(blocks: number): boolean {
    while (this.#free.length < blocks) {
      const more = Math.min(GROWTH_BLOCKS, this.#most - this.#grown);
      if (more <= 0) return false;
      const pages = this.kernel.grow(more);
      if (pages < 0) {
        // The system has no more: what there is has to do.
        this.#most = this.#grown;
        return false;
      }
      for (let i = more - 1; i >= 0; i--) this.#free.push((pages + i) * BLOCK_BYTES);
      this.#grown += more;
      this.#look();
    }
    return true;
  }

  /** The address of a block that was reserved. */
  take(): number {
    const address = this.#free.pop();
    assert(address !== undefined, 'blocks of the index are reserved before they are taken');
    return address;
  }

  /** Overwrites the block with zeros. */
  give(address: number): void {
    this.u8.fill(0, address, address + BLOCK_BYTES);
    this.#free.push(address);
  }

  /** Leaves nothing of a query in the scratch block. */
  wipeScratch(): void {
    this.u8.fill(0, 0, BLOCK_BYTES);
  }

  #look(): void {
    const { buffer } = this.kernel.memory;
    this.i8 = new Int8Array(buffer);
    this.u8 = new Uint8Array(buffer);
    this.i16 = new Int16Array(buffer);
    this.i32 = new Int32Array(buffer);
    this.u32 = new Uint32Array(buffer);
    this.f32 = new Float32Array(buffer);
    this.f64 = new Float64Array(buffer);
  }
}
