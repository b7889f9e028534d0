import type { Clock } from '../kernel/clock.ts';
import { LIMITS } from '../kernel/limits.ts';

type SourceRecord = {
  failuresInARow: number;
  restMs: number;
  /** Monotonic; undefined while the source is in use. */
  restsUntilMs: number | undefined;
  probing: boolean;
};

/** Keeps a source that keeps failing out of the way, so that one dead provider costs nobody latency. */
export interface SourceRests {
  /** False while the source rests. After its rest one caller at a time is let through, as a probe. */
  admits(source: string): boolean;
  /** It answered, whatever it said. */
  answered(source: string): void;
  failed(source: string): void;
  /** The attempt ended without an answer or a failure, such as when the client left. */
  abandoned(source: string): void;
}

/**
 * After `restAfterFailures` failures in a row a source rests, each time for twice as long up to a bound;
 * the first answer ends it. Sources come from the catalogue, so the map is as large as that.
 */
export function createSourceRests(deps: { readonly clock: Clock }): SourceRests {
  const { clock } = deps;
  const records = new Map<string, SourceRecord>();

  function recordOf(source: string): SourceRecord {
    let record = records.get(source);
    if (record === undefined) {
      record = {
        failuresInARow: 0,
        restMs: LIMITS.sourceRestMs.min,
        restsUntilMs: undefined,
        probing: false,
      };
      records.set(source, record);
    }
    return record;
  }

  return {
    admits(source) {
      const record = records.get(source);
      if (record?.restsUntilMs === undefined) return true;
      if (record.probing || clock.monotonicMs() < record.restsUntilMs) return false;
      record.probing = true;
      return true;
    },

    answered(source) {
      // A healthy source has no record, so the common case is one lookup.
      records.delete(source);
    },

    failed(source) {
      const record = recordOf(source);
      record.failuresInARow++;
      if (record.failuresInARow < LIMITS.restAfterFailures) return;
      // Requests that were in flight when the rest began prove nothing new.
      if (record.restsUntilMs !== undefined && !record.probing) return;
      record.probing = false;
      record.restsUntilMs = clock.monotonicMs() + record.restMs;
      record.restMs = Math.min(record.restMs * 2, LIMITS.sourceRestMs.max);
    },

    abandoned(source) {
      const record = records.get(source);
      if (record !== undefined) record.probing = false;
    },
  };
}
