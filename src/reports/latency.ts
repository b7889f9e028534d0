/** Factor between two neighbouring limits of the histogram. Within a bucket no latency is more than 5 % from the reported one. */
export const LATENCY_GROWTH = 1.09;

/** Number of calls in one bucket. Bucket 0 has the latency 0; bucket n has those from 1.09^(n-1) to below 1.09^n milliseconds. */
export type LatencyBucket = { readonly bucket: number; readonly calls: number };

/** Percentiles of the latency of calls, each within 5 % of the exact one. Null without a call. */
export type LatencyReport = {
  readonly calls: number;
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
  readonly p99Ms: number | null;
};

/** Returns the percentiles of a histogram, by the nearest rank. */
export function percentilesOf(buckets: readonly LatencyBucket[]): LatencyReport {
  const sorted = buckets.toSorted((a, b) => a.bucket - b.bucket);
  const calls = sorted.reduce((sum, each) => sum + each.calls, 0);
  const at = (share: number): number | null => {
    let left = Math.max(1, Math.ceil((calls * share) / 100));
    for (const each of sorted) {
      left -= each.calls;
      if (left <= 0) return latencyOfBucket(each.bucket);
    }
    return null;
  };
  return { calls, p50Ms: at(50), p95Ms: at(95), p99Ms: at(99) };
}

/** Returns the latency that stands for a bucket: between its lowest and its highest whole millisecond, at equal relative distance. */
function latencyOfBucket(bucket: number): number {
  if (bucket <= 0) return 0;
  // The logarithm that chose the bucket is as inexact as this power, so a limit that is a whole number belongs to either side.
  const lowest = Math.ceil(LATENCY_GROWTH ** (bucket - 1) - 1e-9);
  const highest = Math.max(lowest, Math.ceil(LATENCY_GROWTH ** bucket) - 1);
  const middle = (2 * lowest * highest) / (lowest + highest);
  return Math.round(middle * 10) / 10;
}
