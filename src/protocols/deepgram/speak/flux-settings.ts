import { DEEPGRAM_LIMITS } from '../limits.ts';

const { expressivity: fluxExpressivity, speed: fluxSpeed } = DEEPGRAM_LIMITS.speak;

type Problem = { readonly code: string; readonly description: string };

/** Returns the reason why a voice does not speak at `speed`, with Deepgram's error code. Undefined when it does. */
export function speedProblem(speed: number): Problem | undefined {
  const { max, min, step } = fluxSpeed;
  if (!(speed >= min && speed <= max)) {
    return { code: 'SPEED_OUT_OF_RANGE', description: `speed is ${min} to ${max}.` };
  }
  const steps = speed / step;
  if (Math.abs(steps - Math.round(steps)) < 1e-6) return undefined;
  return { code: 'SPEED_INCREMENT_INVALID', description: `speed goes in steps of ${step}.` };
}

/** Returns the reason why `expressivity` cannot be used. Undefined for 0, the only value that the voices here support. */
export function expressivityProblem(expressivity: number): Problem | undefined {
  const { max, min } = fluxExpressivity;
  if (!(expressivity >= min && expressivity <= max)) {
    return { code: 'EXPRESSIVITY_OUT_OF_RANGE', description: `expressivity is ${min} to ${max}.` };
  }
  if (!Number.isInteger(expressivity)) {
    return { code: 'EXPRESSIVITY_INCREMENT_INVALID', description: 'expressivity is whole.' };
  }
  if (expressivity === 0) return undefined;
  return { code: 'EXPRESSIVITY_NOT_SUPPORTED', description: 'the voices here have one, 0.' };
}
