/** A chunk as it is searched. `id` is a safe integer; `tag` 0: memory, 1: knowledge. The vector has length 1. */
export type IndexedRow = {
  readonly id: number;
  readonly tag: number;
  readonly vector: Float32Array;
};

export type SpaceQuery = {
  readonly vector: Float32Array;
  readonly k: number;
  readonly tag?: number;
  /** Only these ids, such as those that a filter has left. */
  readonly among?: readonly number[];
};

export type Found = { readonly id: number; readonly score: number };

/** Vectors of spaces in memory, searched exactly. Loading them is the caller's. */
export interface VectorIndex extends AsyncDisposable {
  /** The version that a space is loaded at; undefined: it is not. */
  versionOf(spaceId: number): number | undefined;
  /** Replaces a space by rows that come in pieces. It can be searched once this resolves. */
  load(
    spaceId: number,
    dims: number,
    version: number,
    rows: AsyncIterable<readonly IndexedRow[]>,
  ): Promise<void>;
  /** Adds rows to a space and raises its version. */
  add(spaceId: number, version: number, rows: readonly IndexedRow[]): Promise<void>;
  /** Takes rows out of a space, those of them that it has, and raises its version. */
  remove(spaceId: number, version: number, ids: readonly number[]): Promise<void>;
  /** Forgets a space; nothing of it stays in memory. */
  drop(spaceId: number): Promise<void>;
  /** The nearest rows, best first. */
  search(spaceId: number, query: SpaceQuery): Promise<Found[]>;
  readonly bytes: number;
}
