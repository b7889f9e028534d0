/** Duration of a sound file, or the reason why it cannot be measured. */
export type Measured =
  | { readonly kind: 'measured'; readonly durationMs: number }
  | { readonly kind: 'refused'; readonly reason: string };

export const refused = (reason: string): Measured => ({ kind: 'refused', reason });

/** Whole milliseconds, rounded up, so that no sound takes no time. */
export const measured = (seconds: number): Measured => ({
  kind: 'measured',
  // A millisecond that floating point alone makes is none.
  durationMs: Math.ceil(seconds * 1_000 - 1e-6),
});
