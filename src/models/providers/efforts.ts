/** Reasoning efforts by the vendors' names, from least to most. The Messages dialect lacks the first two. */
export const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;

export type Effort = (typeof EFFORTS)[number];

/** Returns the efforts from `least` to `most`, both included, as a vendor's page lists them. */
export const effortsBetween = (least: Effort, most: Effort): readonly Effort[] =>
  EFFORTS.slice(EFFORTS.indexOf(least), EFFORTS.indexOf(most) + 1);

/**
 * Returns the requested effort if the model takes it, else the next lower effort that the model takes, else its least.
 * Undefined for an unknown effort or a model that takes none: upstreams refuse them, and the request is valid without an
 * effort.
 */
export function nearestEffort(
  asked: unknown,
  taken: readonly Effort[] | undefined,
): Effort | undefined {
  if (taken === undefined) return undefined;
  const most = EFFORTS.indexOf(asked as Effort);
  if (most === -1) return undefined;
  const isTaken = (effort: Effort) => taken.includes(effort);
  return EFFORTS.slice(0, most + 1).findLast(isTaken) ?? EFFORTS.find(isTaken);
}
