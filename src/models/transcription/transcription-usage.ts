import { priceRaw, type Usage } from '../../kernel/price.ts';
import type { Source } from '../catalogue/catalogue.ts';
import { tokensOf } from '../chat/estimate-chat.ts';
import { MODEL_LIMITS } from '../limits.ts';
import type { TranscriptionUsage } from '../providers/transcription-rail.ts';
import { clampUsage, type Metered } from '../purchase/clamp-usage.ts';

export type Sound = { readonly durationMs: number; readonly prompt: string | undefined };

/**
 * Meters a transcription by the duration that the upstream reports and bills, else by that of the file's bytes; never by the
 * caller's. Tokens come from the upstream, else from the seconds. Nothing exceeds the bound of the file.
 */
export function meterTranscription(
  sound: Sound,
  reported: TranscriptionUsage,
  source: Source,
): Metered {
  const { rates } = source;
  const isByTokens = rates.audio_input_token !== undefined;
  return {
    ...clampUsage(usageOf(sound, reported, source), boundUsage(sound, source)),
    estimated: isByTokens && reported.tokens === null,
  };
}

/** Amount to hold for a transcription. */
export const transcriptionBoundRaw = (sound: Sound, source: Source): bigint =>
  priceRaw(boundUsage(sound, source), source.rates, source.marginBps);

/**
 * Returns the upper bound of a file's usage: whole seconds, because some upstreams bill whole seconds, a token for each byte of
 * the prompt, and an answer with as many tokens per second as the densest language.
 */
function boundUsage({ durationMs, prompt = '' }: Sound, source: Source): Usage {
  const seconds = Math.ceil(durationMs / 1_000);
  const tokens = {
    inputAudio: seconds * MODEL_LIMITS.transcription.audioTokensPerSecond,
    inputText: Buffer.byteLength(prompt),
    output: seconds * MODEL_LIMITS.transcription.mostTranscriptTokensPerSecond,
  };
  return usageOf({ durationMs, prompt }, { seconds, tokens }, source);
}

function usageOf(
  { durationMs, prompt }: Sound,
  reported: TranscriptionUsage,
  { rates }: Source,
): Usage {
  const seconds = reported.seconds ?? durationMs / 1_000;
  const tokens = reported.tokens ?? {
    inputAudio: Math.ceil(seconds * MODEL_LIMITS.transcription.audioTokensPerSecond),
    inputText: tokensOf(prompt?.length ?? 0),
    output: Math.ceil(seconds * MODEL_LIMITS.transcription.transcriptTokensPerSecond),
  };
  return {
    audio_second: seconds,
    ...(rates.audio_input_token !== undefined && { audio_input_token: tokens.inputAudio }),
    ...(rates.text_input_token !== undefined && { text_input_token: tokens.inputText }),
    ...(rates.text_output_token !== undefined && { text_output_token: tokens.output }),
    ...(rates.request !== undefined && { request: 1 }),
  };
}
