import type { Clock } from '../../kernel/clock.ts';
import { MODEL_LIMITS } from '../limits.ts';

type SourceRecord = {
  failuresInARow: number;
  restMs: number;
  /** Monotonic time at which the source may be used again, in milliseconds. Undefined while the source is in use. */
  opensUntilMs: number | undefined;
  probing: boolean;
  /** True when the source reported impossible usage. Successful answers to other requests do not clear it. */
  isDistrusted: boolean;
};

/** Keeps failing sources out of routing, so that a provider that is down does not delay requests. */
export interface CircuitBreaker {
  /** Returns false while the source is backing off. After that, one request at a time is let through as a probe. */
  admits(source: string): boolean;
  /** Returns the milliseconds for which the source is still backing off; 0 for a source that is in use. */
  restMs(source: string): number;
  /** Notes an answer of the source, also an error answer: its failures start again from 0. */
  answered(source: string): void;
  failed(source: string): void;
  /**
   * Records that the source reported usage that its request cannot have had. The source backs off at once, for the longest
   * time.
   */
  distrusted(source: string): void;
  /** Records an attempt that ended without an answer or a failure, for example because the client left. */
  abandoned(source: string): void;
}

/**
 * Creates the breaker. After `restAfterFailures` failures in a row a source backs off, each time twice as long up to a bound;
 * the first answer ends it. The map is bounded by the sources of the catalogue.
 */
export function createSourceRests(deps: { readonly clock: Clock }): CircuitBreaker {
  const { clock } = deps;
  const records = new Map<string, SourceRecord>();

  function recordOf(source: string): SourceRecord {
    let record = records.get(source);
    if (record === undefined) {
      record = {
        failuresInARow: 0,
        restMs: MODEL_LIMITS.upstream.restMs.min,
        opensUntilMs: undefined,
        probing: false,
        isDistrusted: false,
      };
      records.set(source, record);
    }
    return record;
  }

  return {
    admits(source) {
      const record = records.get(source);
      if (record?.opensUntilMs === undefined) return true;
      if (record.probing || clock.monotonicMs() < record.opensUntilMs) return false;
      record.probing = true;
      return true;
    },

    restMs(source) {
      const until = records.get(source)?.opensUntilMs ?? 0;
      return Math.max(0, until - clock.monotonicMs());
    },

    answered(source) {
      // A healthy source has no record, so the common case is one lookup.
      const record = records.get(source);
      if (record === undefined || (record.isDistrusted && !record.probing)) return;
      records.delete(source);
    },

    failed(source) {
      const record = recordOf(source);
      record.failuresInARow++;
      if (record.failuresInARow < MODEL_LIMITS.upstream.restAfterFailures) return;
      // Failures of requests that were sent before the backoff began must not lengthen the backoff.
      if (record.opensUntilMs !== undefined && !record.probing) return;
      record.probing = false;
      record.opensUntilMs = clock.monotonicMs() + record.restMs;
      record.restMs = Math.min(record.restMs * 2, MODEL_LIMITS.upstream.restMs.max);
    },

    distrusted(source) {
      const record = recordOf(source);
      record.probing = false;
      record.isDistrusted = true;
      record.restMs = MODEL_LIMITS.upstream.restMs.max;
      record.opensUntilMs = clock.monotonicMs() + record.restMs;
    },

    abandoned(source) {
      const record = records.get(source);
      if (record !== undefined) record.probing = false;
    },
  };
}
