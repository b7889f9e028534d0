/** How much a model may think, in the words of the Messages dialect, from least to most. */
export const EFFORTS = ['low', 'medium', 'high', 'xhigh', 'max'] as const;

export type Effort = (typeof EFFORTS)[number];

/** The words of the OpenAI dialect that the other has not: both mean the least. */
const LEAST: ReadonlySet<unknown> = new Set(['none', 'minimal']);

/**
 * What a wish of the OpenAI dialect is to a model that takes these efforts: the same, or the next below that it takes.
 * Undefined where nothing is asked that is known, or the model takes none: upstreams refuse what they do not take, and the
 * answer is the one asked for without it, too.
 */
export function nearestEffort(
  asked: unknown,
  taken: readonly Effort[] | undefined,
): Effort | undefined {
  if (taken === undefined) return undefined;
  const most = LEAST.has(asked) ? 0 : EFFORTS.indexOf(asked as Effort);
  if (most === -1) return undefined;
  const isTaken = (effort: Effort) => taken.includes(effort);
  return EFFORTS.slice(0, most + 1).findLast(isTaken) ?? EFFORTS.find(isTaken);
}
