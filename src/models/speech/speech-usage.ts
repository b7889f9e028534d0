import { priceRaw, type Usage } from '../../kernel/price.ts';
import type { Source } from '../catalogue/catalogue.ts';
import { tokensOf } from '../chat/estimate-chat.ts';
import type { SpeechTokens } from '../providers/speech-rail.ts';
import { clampUsage, type Metered } from '../purchase/clamp-usage.ts';
import { SPEECH_LIMITS } from './limits.ts';
import { codePointsOf, type SpeechRequest } from './speech-request.ts';

/** Estimated usage of a speech request. The characters are counted. */
export type SpeechEstimate = SpeechTokens & {
  readonly characters: number;
  readonly seconds: number;
};

/** Lengths of the texts of a request, from which its price is estimated. */
type SpeechLength = {
  /** Unicode code points of the input. */
  readonly characters: number;
  readonly inputBytes: number;
  readonly instructionsBytes: number;
  /** Speed factor of the speech. 1, null and undefined are the voice's usual speed. */
  readonly speed: number | null | undefined;
};

const lengthOf = ({ input, instructions, speed }: SpeechRequest): SpeechLength => ({
  characters: codePointsOf(input),
  inputBytes: Buffer.byteLength(input),
  instructionsBytes: Buffer.byteLength(instructions ?? ''),
  speed,
});

/** Returns the seconds and tokens of the audio. `slowness` is the factor over the usual duration of speech: 1 is usual. */
function soundOf({ inputBytes, speed }: SpeechLength, slowness: number) {
  const { audioTokensPerSecond, textBytesPerSecond } = SPEECH_LIMITS;
  const plainSeconds = (slowness * inputBytes) / textBytesPerSecond;
  const seconds = Math.ceil((1_000 * plainSeconds) / (speed ?? 1)) / 1_000;
  return { seconds, outputTokens: Math.ceil(seconds * audioTokensPerSecond) };
}

export function estimateSpeech(request: SpeechRequest): SpeechEstimate {
  const { input, instructions } = request;
  const length = lengthOf(request);
  return {
    characters: length.characters,
    inputTokens: tokensOf(input.length + (instructions?.length ?? 0)),
    ...soundOf(length, 1),
  };
}

/** Returns true when a source bills tokens, which only the upstream's answer reports. */
export const billsTokens = ({ rates }: Source): boolean =>
  rates.audio_output_token !== undefined || rates.text_input_token !== undefined;

/** Returns the usage in the units that a source bills. The characters are those of the requested text. */
function speechUsage(speech: SpeechEstimate, { rates }: Source): Usage {
  return {
    character: speech.characters,
    ...(rates.text_input_token === undefined ? {} : { text_input_token: speech.inputTokens }),
    ...(rates.audio_output_token === undefined ? {} : { audio_output_token: speech.outputTokens }),
    ...(rates.audio_second === undefined ? {} : { audio_second: speech.seconds }),
    ...(rates.request === undefined ? {} : { request: 1 }),
  };
}

/** Returns the upper bound of the usage at a source: one token for each byte of the texts, and the duration of slow speech. */
function boundUsage(length: SpeechLength, source: Source): Usage {
  const { characters, inputBytes, instructionsBytes } = length;
  const inputTokens = inputBytes + instructionsBytes;
  const sound = soundOf(length, SPEECH_LIMITS.holdFactor);
  return speechUsage({ characters, inputTokens, ...sound }, source);
}

const boundRaw = (length: SpeechLength, source: Source): bigint =>
  priceRaw(boundUsage(length, source), source.rates, source.marginBps);

/** Returns the upper bound of the price of a request at a source. */
export const speechBoundRaw = (request: SpeechRequest, source: Source): bigint =>
  boundRaw(lengthOf(request), source);

/** Upper bound of the UTF-8 bytes of one UTF-16 character. */
const MOST_BYTES_PER_CHARACTER = 3;

/**
 * Returns the upper bound of the price of any text with `characters` characters at a source. The computation does not read a
 * text, so its time is constant.
 */
export const longestSpeechRaw = (
  { characters, speed }: Pick<SpeechLength, 'characters' | 'speed'>,
  source: Source,
): bigint => {
  const inputBytes = MOST_BYTES_PER_CHARACTER * characters;
  return boundRaw({ characters, inputBytes, instructionsBytes: 0, speed }, source);
};

/**
 * Meters speech by its characters, and by the tokens that the upstream reports. The result never exceeds the bound of the
 * request.
 */
export function meterSpeech(
  request: SpeechRequest,
  reported: SpeechTokens | null,
  source: Source,
): Metered {
  const usage = speechUsage({ ...estimateSpeech(request), ...reported }, source);
  const isGuessed = reported === null && billsTokens(source);
  const estimated = isGuessed || source.rates.audio_second !== undefined;
  return { ...clampUsage(usage, boundUsage(lengthOf(request), source)), estimated };
}
