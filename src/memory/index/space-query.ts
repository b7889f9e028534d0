export type SpaceQuery = {
  readonly vector: Float32Array;
  /** Largest number of results. */
  readonly k: number;
  /** Tag of the rows to search. Absent: rows of every tag. */
  readonly tag?: number | undefined;
  /** Restricts the search to rows with these ids, such as rows that pass a filter on metadata. */
  readonly among?: readonly number[] | undefined;
};

export type Found = { readonly id: number; readonly score: number };
