import type { Effort } from './efforts.ts';

/**
 * What models take of `temperature` and `top_p`, where they do not take both: neither, either of them alone, or both only where they
 * are told not to think.
 */
export const SAMPLINGS = ['neither', 'either', 'unless_thinking'] as const;

export type Sampling = (typeof SAMPLINGS)[number];

type Sampled = { readonly temperature?: unknown; readonly top_p?: unknown };

const isSet = (value: unknown): boolean => value !== undefined && value !== null;

/**
 * The member that is to be left out of a translated request, or both: vendors refuse what a model does not take. Undefined: the
 * model takes what is asked.
 */
export function untakenSampling(
  { temperature, top_p: topP }: Sampled,
  sampling: Sampling | undefined,
  effort: Effort | undefined,
): 'both' | 'top_p' | undefined {
  if (sampling === undefined) return undefined;
  if (sampling === 'either') return isSet(temperature) && isSet(topP) ? 'top_p' : undefined;
  if (sampling === 'unless_thinking' && effort === 'none') return undefined;
  return isSet(temperature) || isSet(topP) ? 'both' : undefined;
}
