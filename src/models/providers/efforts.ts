/** How much a model may think, in the words of vendors, from least to most. The Messages dialect has neither of the first two. */
export const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;

export type Effort = (typeof EFFORTS)[number];

/** From one to another, both included, as a vendor's page lists them. */
export const effortsBetween = (least: Effort, most: Effort): readonly Effort[] =>
  EFFORTS.slice(EFFORTS.indexOf(least), EFFORTS.indexOf(most) + 1);

/**
 * What a wish of either dialect is to a model that takes these efforts: the same, or the next below that it takes, or else its
 * least. Undefined where nothing is asked that is known, or the model takes none: upstreams refuse what they do not take, and the
 * answer is the one asked for without it, too.
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
