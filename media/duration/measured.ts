/** Duration of a sound file, or the reason why it cannot be measured. */
export type Measured =
  | { readonly kind: 'measured'; readonly durationMs: number }
  | { readonly kind: 'refused'; readonly reason: string };

export const refused = (reason: string): Measured => ({ kind: 'refused', reason });

/** Returns the duration in whole milliseconds, rounded up, so that only empty sound has a duration of 0. */
export const measured = (seconds: number): Measured => ({
  kind: 'measured',
  // A rounding error of floating point must not add a millisecond.
  durationMs: Math.ceil(seconds * 1_000 - 1e-6),
});
