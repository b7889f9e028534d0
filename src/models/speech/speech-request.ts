import { z } from 'zod';
import { LIMITS } from '../../kernel/limits.ts';
import { SPEECH_FORMATS } from '../providers/speech-rail.ts';

const { inputChars, instructionsChars, speed, voiceChars } = LIMITS.speech;

/** Code points, which is what is billed: an emoji is one, where its string has a length of two. */
export function codePointsOf(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

const TOO_LONG = `must have at most ${inputChars} characters`;
const voice = z.string().min(1).max(voiceChars);

/** As much of a speech request as the gateway has to understand; everything else is forwarded as it came. */
export const SpeechRequest = z.looseObject({
  model: z.string().min(1).max(LIMITS.modelIdChars),
  input: z
    .string()
    .min(1)
    // A text that is longer in any spelling is not counted at all.
    .max(2 * inputChars, { abort: true, error: TOO_LONG })
    .refine((text) => codePointsOf(text) <= inputChars, { error: TOO_LONG }),
  voice: z.union([voice, z.looseObject({ id: voice })]).nullish(),
  response_format: z.enum(SPEECH_FORMATS).nullish(),
  speed: z.number().min(speed.min).max(speed.max).nullish(),
  instructions: z.string().max(instructionsChars).nullish(),
  stream_format: z.enum(['audio', 'sse']).nullish(),
});

export type SpeechRequest = z.output<typeof SpeechRequest>;
