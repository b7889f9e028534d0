import type { Found, SpaceQuery } from '../index/space-query.ts';
import type { SpaceVersion } from './search-store.ts';

/** Finds the chunks of spaces by their vectors, wherever the vectors are stored. */
export interface VectorSearch {
  /**
   * Returns the chunks nearest to a vector, best first, of the space at this version or a later one. A score is the cosine of
   * the two vectors. Throws `vendor_unavailable` when the space cannot be searched now.
   */
  search(space: SpaceVersion, query: SpaceQuery): Promise<Found[]>;
  /** Removes this process's copies of chunks that were deleted before this version of the space. */
  follow(space: SpaceVersion): Promise<void>;
  /** Removes this process's copies of everything that other processes have deleted. */
  followAll(): Promise<void>;
  /** Removes all data of a space from the memory of this process. */
  drop(spaceId: number): Promise<void>;
}
