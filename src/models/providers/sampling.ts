import type { Effort } from './efforts.ts';

/**
 * Kinds of models that refuse sampling members: both `temperature` and `top_p` (`neither`), the two together (`either`), or
 * both while the model thinks (`unless_thinking`).
 */
export const SAMPLINGS = ['neither', 'either', 'unless_thinking'] as const;

export type Sampling = (typeof SAMPLINGS)[number];

type Sampled = { readonly temperature?: unknown; readonly top_p?: unknown };

const isSet = (value: unknown): boolean => value !== undefined && value !== null;

/**
 * Returns the sampling members that a translated request must leave out for a model of this kind. Undefined when the model
 * accepts all of them.
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
