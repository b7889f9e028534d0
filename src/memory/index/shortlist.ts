import { type Arena, type CoarseQuery, SCRATCH } from './arena.ts';
import { Best } from './best.ts';
import type { Extent } from './extent.ts';
import type { Space } from './space.ts';
import type { SpaceQuery } from './space-query.ts';

/** Largest number of candidates that are put in order. Among more candidates, many have nearly the same score. */
const MOST_ORDERED = 4_096;

/** Rows that may be among the best (`rows`), and the highest possible score of each (`uppers`). */
export type Candidates = { readonly rows: readonly number[]; readonly uppers: readonly number[] };

/**
 * Collects the rows of a space that may be among the best k: their highest possible score is not below the lowest possible
 * score of k other rows.
 */
export class Shortlist {
  readonly #arena: Arena;
  readonly #space: Space;
  readonly #vector: Float32Array;
  readonly #tag: number | undefined;
  readonly #lowest: Best;
  readonly #rows: number[] = [];
  readonly #uppers: number[] = [];

  constructor(arena: Arena, space: Space, { k, tag, vector }: SpaceQuery) {
    this.#arena = arena;
    this.#space = space;
    this.#vector = vector;
    this.#tag = tag;
    this.#lowest = new Best(k);
  }

  /** Scans rows from `first`, the beginning of a group, to `end` or slightly further. Returns the row at which it stopped. */
  scan(first: number, end: number): number {
    const query = this.#arena.prepare(this.#vector, this.#space.stride);
    let row = first;
    while (row < end) {
      const extent = this.#space.extentOf(row);
      const place = row - extent.first;
      const rows = Math.min(extent.layout.rows, this.#space.rows - extent.first) - place;
      const { count, scanned } = extent.scan(query, place, rows, this.#lowest.least);
      this.#take(query, extent, place, count);
      row += Math.min(scanned, rows);
    }
    return row;
  }

  /** Returns the candidates, ordered by their highest possible score when there are at most `MOST_ORDERED`. */
  candidates(): Candidates {
    const { least } = this.#lowest;
    const upper = (i: number) => this.#uppers[i] ?? 0;
    const left = Array.from(this.#rows.keys()).filter((i) => upper(i) >= least);
    if (left.length <= MOST_ORDERED) left.sort((a, b) => upper(b) - upper(a));
    return { rows: left.map((i) => this.#rows[i] ?? 0), uppers: left.map(upper) };
  }

  #take({ slack, wide }: CoarseQuery, extent: Extent, first: number, count: number): void {
    const { f32, i32 } = this.#arena;
    for (let i = 0; i < count; i++) {
      const at = SCRATCH.candidates / 4 + 2 * i;
      const place = first + (i32[at] ?? 0);
      const row = extent.first + place;
      const upper = f32[at + 1] ?? 0;
      // The last group of rows may be filled up with zeros.
      if (row >= this.#space.rows || upper < this.#lowest.least) continue;
      if (this.#tag !== undefined && extent.tagAt(place) !== this.#tag) continue;
      this.#rows.push(row);
      this.#uppers.push(upper);
      this.#lowest.offer(upper - 2 * (extent.errorAt(place) * wide + slack), row);
    }
  }
}
