import { LIMITS } from '../../kernel/limits.ts';
import { priceRaw, type Usage } from '../../kernel/price.ts';
import type { Source } from '../catalogue/catalogue.ts';
import { tokensOf } from '../chat/estimate-chat.ts';
import type { SpeechTokens } from '../providers/speech-rail.ts';
import { believe, type Metered } from '../purchase/believe.ts';
import { codePointsOf, type SpeechRequest } from './speech-request.ts';

/** What the text of a request comes to. Its characters are counted, everything else is taken for so much. */
export type SpeechEstimate = SpeechTokens & {
  readonly characters: number;
  readonly seconds: number;
};

/** `slowness` 1 is how fast people usually speak. */
export function estimateSpeech(request: SpeechRequest, slowness = 1): SpeechEstimate {
  const { input, instructions, speed } = request;
  const { audioTokensPerSecond, textBytesPerSecond } = LIMITS.speech;
  const plainSeconds = (slowness * Buffer.byteLength(input)) / textBytesPerSecond;
  const seconds = Math.ceil((1_000 * plainSeconds) / (speed ?? 1)) / 1_000;
  return {
    characters: codePointsOf(input),
    seconds,
    inputTokens: tokensOf(input.length + (instructions?.length ?? 0)),
    outputTokens: Math.ceil(seconds * audioTokensPerSecond),
  };
}

/** Whether only the upstream's answer shows what a source bills. */
export const billsTokens = ({ rates }: Source): boolean =>
  rates.audio_output_token !== undefined || rates.text_input_token !== undefined;

/** In the units that a source bills. Characters are always known: they are what was asked for. */
function speechUsage(speech: SpeechEstimate, { rates }: Source): Usage {
  return {
    character: speech.characters,
    ...(rates.text_input_token === undefined ? {} : { text_input_token: speech.inputTokens }),
    ...(rates.audio_output_token === undefined ? {} : { audio_output_token: speech.outputTokens }),
    ...(rates.audio_second === undefined ? {} : { audio_second: speech.seconds }),
    ...(rates.request === undefined ? {} : { request: 1 }),
  };
}

/** The most that a request can use at a source: a token for each byte of its texts, and sound that is spoken slowly. */
function boundUsage(request: SpeechRequest, source: Source): Usage {
  const { input, instructions } = request;
  const inputTokens = Buffer.byteLength(input) + Buffer.byteLength(instructions ?? '');
  const slow = estimateSpeech(request, LIMITS.speech.holdFactor);
  return speechUsage({ ...slow, inputTokens }, source);
}

/** The most that a request should cost at a source. */
export const speechBoundRaw = (request: SpeechRequest, source: Source): bigint =>
  priceRaw(boundUsage(request, source), source.rates, source.marginBps);

/**
 * What speech used: its characters, and tokens as its upstream reported them, if it did. Never more than the request
 * can have used.
 */
export function meterSpeech(
  request: SpeechRequest,
  reported: SpeechTokens | null,
  source: Source,
): Metered {
  const usage = speechUsage({ ...estimateSpeech(request), ...reported }, source);
  const isGuessed = reported === null && billsTokens(source);
  const estimated = isGuessed || source.rates.audio_second !== undefined;
  return { ...believe(usage, boundUsage(request, source)), estimated };
}
