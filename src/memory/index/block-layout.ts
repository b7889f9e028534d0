/**
 * Bytes of a block. All memory of the index is allocated in blocks of one size, so that the blocks of a space fit every other
 * space.
 */
export const BLOCK_BYTES = 65_536;

/** The kernel reads `GROUP_ROWS` rows at a time, and `STEP` numbers of each. */
export const GROUP_ROWS = 4;
export const STEP = 16;

/** Bytes of a row besides its vector: id, scale, error, tag. */
const ROW_EXTRA_BYTES = 8 + 4 + 4 + 4;

/** Layout of rows in blocks that follow each other. Places and lengths are in bytes but for `rows` and `stride`. */
export type BlockLayout = {
  readonly rows: number;
  /** Number of numbers in a row, including the zeros at its end. The coarse numbers, one byte each, come first in a block. */
  readonly stride: number;
  /** Offset of the Float32 scales: a coarse number times its row's scale is the approximate number. */
  readonly scalesAt: number;
  /** Offset of the Float32 distances between the coarse and the exact vector of each row. */
  readonly errorsAt: number;
  /** Offset of the ids, in Float64 because they are safe integers. */
  readonly idsAt: number;
  /** Offset of the tags, in Int32. */
  readonly tagsAt: number;
  /** Offset of the exact Float32 numbers, after the data that every search reads. */
  readonly exactAt: number;
};

/** Layouts by dimensions and number of blocks. Few layouts exist, each with many extents. */
const known = new Map<string, BlockLayout>();

/** Returns the layout of `blocks` blocks for vectors of `dims` numbers, at most `MEMORY_LIMITS.index.dims`. */
export function layoutOf(dims: number, blocks = 1): BlockLayout {
  const key = `${dims} ${blocks}`;
  const layout = known.get(key) ?? makeLayout(dims, blocks);
  known.set(key, layout);
  return layout;
}

function makeLayout(dims: number, blocks: number): BlockLayout {
  const stride = Math.ceil(dims / STEP) * STEP;
  const most = Math.floor((blocks * BLOCK_BYTES) / (5 * stride + ROW_EXTRA_BYTES));
  const rows = most - (most % GROUP_ROWS);
  const scalesAt = rows * stride;
  const errorsAt = scalesAt + rows * 4;
  const idsAt = errorsAt + rows * 4;
  const tagsAt = idsAt + rows * 8;
  const exactAt = tagsAt + rows * 4;
  return { rows, stride, scalesAt, errorsAt, idsAt, tagsAt, exactAt };
}
