import { z } from 'zod';
import { MODEL_LIMITS } from '../limits.ts';
import { SPEECH_FORMATS } from '../providers/speech-rail.ts';
import { SPEECH_LIMITS } from './limits.ts';

const { inputChars, instructionsChars, speed, voiceChars } = SPEECH_LIMITS;

/** Returns true for the first half of a UTF-16 surrogate pair; `isLow` for the second half. */
const isHigh = (unit: number): boolean => unit >= 0xd800 && unit < 0xdc00;
const isLow = (unit: number): boolean => unit >= 0xdc00 && unit < 0xe000;

/**
 * Returns the number of code points, which is the billed length. An emoji is one code point, although its string has the length
 * 2.
 */
export function codePointsOf(text: string): number {
  let count = text.length;
  for (let at = 1; at < text.length; at++) {
    if (isLow(text.charCodeAt(at)) && isHigh(text.charCodeAt(at - 1))) count--;
  }
  return count;
}

const TOO_LONG = `must have at most ${inputChars} characters`;
const voice = z.string().min(1).max(voiceChars);

/** Members of a speech request that the gateway reads. All other members are forwarded unchanged. */
export const SpeechRequest = z.looseObject({
  model: z.string().min(1).max(MODEL_LIMITS.idChars),
  input: z
    .string()
    .min(1)
    // A text over this length exceeds the limit in any encoding, so its code points are not counted.
    .max(2 * inputChars, { abort: true, error: TOO_LONG })
    .refine((text) => codePointsOf(text) <= inputChars, { error: TOO_LONG }),
  voice: z.union([voice, z.looseObject({ id: voice })]).nullish(),
  response_format: z.enum(SPEECH_FORMATS).nullish(),
  speed: z.number().min(speed.min).max(speed.max).nullish(),
  instructions: z.string().max(instructionsChars).nullish(),
  stream_format: z.enum(['audio', 'sse']).nullish(),
});

export type SpeechRequest = z.output<typeof SpeechRequest>;
