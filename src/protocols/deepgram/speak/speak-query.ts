import { z } from 'zod';
import type { SoundCoding, SoundFormat } from '../../../../media/coding.ts';
import { gatewayErrors } from '../../../models/errors.ts';
import { MODEL_LIMITS } from '../../../models/limits.ts';
import type { SpeechFormat } from '../../../models/providers/speech-rail.ts';
import { SPEECH_LIMITS } from '../../../models/speech/limits.ts';
import { SPEND_LIMITS } from '../../../spend/limits.ts';
import { notDone } from '../query-shape.ts';
import { expressivityProblem, speedProblem } from './flux-settings.ts';
import type { MadeSound } from './spoken-sound.ts';

/** Parameters of both queries. Parameters that are unknown to this server and the vendor are ignored. */
const SPOKEN = {
  model: z.string().min(1).max(MODEL_LIMITS.idChars).default('aura-2-thalia-en'),
  /** Name of the voice, for models that have several voices under one model id. */
  voice: z.string().min(1).max(SPEECH_LIMITS.voiceChars).optional(),
  sample_rate: z.coerce.number().int().positive().optional(),
  speed: z.coerce.number().min(SPEECH_LIMITS.speed.min).max(SPEECH_LIMITS.speed.max).optional(),
  mip_opt_out: notDone('is billed apart by the upstream'),
  callback: notDone('the sound comes with the answer alone'),
};

/** The query parameters of `POST /v1/speak`: https://developers.deepgram.com/reference/text-to-speech-api. */
export const SpeakQuery = z.looseObject({
  ...SPOKEN,
  encoding: z.enum(['linear16', 'mulaw', 'alaw', 'mp3', 'opus', 'flac', 'aac']).optional(),
  container: z.enum(['none', 'wav', 'ogg']).optional(),
  bit_rate: z.coerce.number().int().positive().optional(),
});

/**
 * The query parameters of the `/v1/speak` socket: https://developers.deepgram.com/reference/text-to-speech-api/speak-streaming.
 */
export const SpeakSocketQuery = z.looseObject({
  ...SPOKEN,
  encoding: z.enum(['linear16', 'mulaw', 'alaw']).default('linear16'),
  container: z.enum(['none']).default('none'),
  customer_id: z.string().max(SPEND_LIMITS.tag.idChars).optional(),
});

export type SpeakQuery = z.output<typeof SpeakQuery>;

/** Returns the schema of a number. A number with a problem is refused with the vendor's code for the problem. */
const within = (problemOf: typeof speedProblem) =>
  z.coerce
    .number()
    .superRefine((value, context) => {
      const problem = problemOf(value);
      if (problem === undefined) return;
      context.addIssue({ code: 'custom', message: `${problem.code}: ${problem.description}` });
    })
    .optional();

/** Query parameters of `/v2/speak` that differ from the parameters of `/v1/speak`. */
const FLUX = {
  model: z.string().min(1).max(MODEL_LIMITS.idChars),
  speed: within(speedProblem),
  expressivity: within(expressivityProblem),
};

/** The query parameters of `POST /v2/speak`: https://developers.deepgram.com/reference/speak/v-2/audio/generate. */
export const FluxQuery = SpeakQuery.extend(FLUX);

/** The query parameters of the `/v2/speak` socket: https://developers.deepgram.com/reference/text-to-speech/speak-flux. */
export const FluxSocketQuery = SpeakSocketQuery.extend(FLUX);

/**
 * The format that is requested of the source, and the encoding of its samples here (`made`). `made` is undefined when the
 * source makes the file itself.
 */
export type SoundPlan = {
  readonly format: SpeechFormat;
  readonly made: MadeSound | undefined;
};

type Rates = Readonly<Record<SoundCoding, readonly number[]>>;

const RATES: Rates = {
  linear16: [8_000, 16_000, 24_000, 32_000, 48_000],
  mulaw: [8_000, 16_000],
  alaw: [8_000, 16_000],
};

/** Sample rates of `/v2/speak` in Hz, by encoding. */
export const FLUX_RATES: Rates = {
  linear16: [8_000, 16_000, 24_000, 32_000, 44_100, 48_000],
  mulaw: RATES.mulaw,
  alaw: RATES.alaw,
};

const USUAL_HZ: Readonly<Record<SoundCoding, number>> = {
  linear16: 24_000,
  mulaw: 8_000,
  alaw: 8_000,
};

/** Encodings that a source returns as whole files, with the container of each. */
const FILES = { mp3: 'none', opus: 'ogg', flac: 'none', aac: 'none' } as const;

/**
 * Returns the format of the sound, by the combinations of https://developers.deepgram.com/docs/tts-media-output-settings:
 * mp3 when nothing is named. Throws the refusal of a combination that does not exist.
 */
export function planSound(
  {
    container,
    encoding = container === 'wav' ? 'linear16' : container === 'ogg' ? 'opus' : 'mp3',
    sample_rate,
  }: Pick<SpeakQuery, 'container' | 'encoding' | 'sample_rate'>,
  rates: Rates = RATES,
): SoundPlan {
  if (encoding === 'linear16' || encoding === 'mulaw' || encoding === 'alaw') {
    const inWav = (container ?? 'wav') === 'wav';
    if (container === 'ogg') throw unfit(`${encoding} has no container ogg`, 'container');
    return { format: 'pcm', made: { inWav, ...planRaw(encoding, sample_rate, rates) } };
  }
  const own = FILES[encoding];
  if (container !== undefined && container !== own) {
    throw unfit(`${encoding} has the container ${own} alone`, 'container');
  }
  return { format: encoding, made: undefined };
}

/** Plans raw samples of an encoding. Throws the refusal of a sample rate that the encoding does not have. */
export function planRaw(
  encoding: SoundCoding,
  sampleRateHz: number = USUAL_HZ[encoding],
  rates: Rates = RATES,
): SoundFormat {
  if (rates[encoding].includes(sampleRateHz)) return { encoding, sampleRateHz };
  throw unfit(`${encoding} is made at ${rates[encoding].join(', ')} Hz`, 'sample_rate');
}

const unfit = (message: string, param: string) =>
  gatewayErrors.invalidRequest(`${param}: ${message}`, param);
