import { type Arena, type CoarseQuery, SCAN_ROWS, SCRATCH } from './arena.ts';
import { type BlockLayout, GROUP_ROWS, STEP } from './block-layout.ts';

export type Row = { readonly id: number; readonly tag: number; readonly vector: Float32Array };

/** Rows in blocks that follow each other in memory. A `place` is a row's number in the extent. */
export class Extent {
  readonly address: number;
  readonly blocks: number;
  /** Number, in its space, of the row at place 0. */
  readonly first: number;
  readonly layout: BlockLayout;
  readonly #arena: Arena;
  /**
   * Address of the extent in bytes, as a signed 32-bit number for the kernel. `#word` and `#double` are the same address in
   * units of four and eight bytes: V8 computes much faster with whole numbers below 2³¹.
   */
  readonly #at: number;
  readonly #word: number;
  readonly #double: number;

  constructor(
    arena: Arena,
    run: { readonly address: number; readonly blocks: number },
    first: number,
    layout: BlockLayout,
  ) {
    this.#arena = arena;
    this.address = run.address;
    this.#at = run.address | 0;
    this.#word = run.address / 4;
    this.#double = run.address / 8;
    this.blocks = run.blocks;
    this.first = first;
    this.layout = layout;
  }

  write(place: number, { id, tag, vector }: Row): void {
    const { f32, f64, i32, kernel } = this.#arena;
    const { errorsAt, exactAt, idsAt, scalesAt, stride, tagsAt } = this.layout;
    f32.set(vector, this.#word + exactAt / 4 + place * stride);
    kernel.quantise(
      this.#at + exactAt + place * stride * 4,
      stride,
      this.#at + this.#coarseAt(place),
      this.#at + scalesAt + place * 4,
      this.#at + errorsAt + place * 4,
    );
    f64[this.#double + idsAt / 8 + place] = id;
    i32[this.#word + tagsAt / 4 + place] = tag;
  }

  /** Overwrites a row with a row of this extent, or of another extent whose vectors have the same length. */
  copy(place: number, from: Extent, fromPlace: number): void {
    const { u8 } = this.#arena;
    const targets = this.#partsOf(place);
    for (const [i, [at, bytes]] of from.#partsOf(fromPlace).entries()) {
      u8.copyWithin(targets[i]?.[0] ?? 0, at, at + bytes);
    }
  }

  wipe(place: number): void {
    for (const [at, bytes] of this.#partsOf(place)) this.#arena.u8.fill(0, at, at + bytes);
  }

  idAt(place: number): number {
    return this.#arena.f64[this.#double + this.layout.idsAt / 8 + place] ?? 0;
  }

  tagAt(place: number): number {
    return this.#arena.i32[this.#word + this.layout.tagsAt / 4 + place] ?? 0;
  }

  errorAt(place: number): number {
    return this.#arena.f32[this.#word + this.layout.errorsAt / 4 + place] ?? 0;
  }

  /** Loads the numbers that a scan reads into the processor's cache. */
  touch(): void {
    this.#arena.kernel.touch(this.#at, this.layout.exactAt);
  }

  /** Loads the exact numbers of a row into the processor's cache. */
  touchExact(place: number): void {
    const { exactAt, stride } = this.layout;
    this.#arena.kernel.touch(this.#at + exactAt + place * stride * 4, stride * 4);
  }

  /** Returns the exact product of a row with the query in the scratch block. */
  scoreAt(place: number): number {
    const { exactAt, stride } = this.layout;
    const row = this.#at + exactAt + place * stride * 4;
    return this.#arena.kernel.score(row, SCRATCH.exactQuery, stride);
  }

  /**
   * Finds rows that may score at least `least` with the query in the scratch block, in one call of the kernel, from the first
   * place of a group on. The results are the first `count` pairs of the scratch block's candidates, numbered from `place`;
   * some may be places without a row.
   */
  scan(
    query: CoarseQuery,
    place: number,
    rows: number,
    least: number,
  ): { readonly scanned: number; readonly count: number } {
    const { errorsAt, scalesAt, stride } = this.layout;
    const groups = Math.ceil(Math.min(rows, SCAN_ROWS) / GROUP_ROWS);
    const end = this.#arena.kernel.scan(
      this.#at + place * stride,
      this.#at + scalesAt + place * 4,
      this.#at + errorsAt + place * 4,
      groups,
      SCRATCH.coarseQuery,
      stride,
      query.scale,
      query.wide,
      query.slack,
      least,
      SCRATCH.candidates,
    );
    return { scanned: groups * GROUP_ROWS, count: (end - SCRATCH.candidates) / 8 };
  }

  /**
   * Returns the place in the extent of a row's first coarse numbers. The row's other numbers follow at a distance, with the
   * numbers of its group's other rows between them.
   */
  #coarseAt(place: number): number {
    const inGroup = place % GROUP_ROWS;
    return (place - inGroup) * this.layout.stride + inGroup * STEP;
  }

  /** Returns the address and length of each part of a row. */
  #partsOf(place: number): readonly (readonly [at: number, bytes: number])[] {
    const { errorsAt, exactAt, idsAt, scalesAt, stride, tagsAt } = this.layout;
    const coarseAt = this.address + this.#coarseAt(place);
    return [
      ...Array.from(
        { length: stride / STEP },
        (_, i) => [coarseAt + i * STEP * GROUP_ROWS, STEP] as const,
      ),
      [this.address + exactAt + place * stride * 4, stride * 4],
      [this.address + idsAt + place * 8, 8],
      [this.address + scalesAt + place * 4, 4],
      [this.address + errorsAt + place * 4, 4],
      [this.address + tagsAt + place * 4, 4],
    ];
  }
}
