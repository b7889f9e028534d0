import { LIMITS } from '../../kernel/limits.ts';
import { priceRaw, type Usage } from '../../kernel/price.ts';
import type { Source } from '../catalogue/catalogue.ts';
import { tokensOf } from '../chat/estimate-chat.ts';
import type { TranscriptionUsage } from '../providers/transcription-rail.ts';
import { believe } from '../purchase/believe.ts';
import type { Metered } from '../purchase/charge-row.ts';

type Sound = { readonly durationMs: number; readonly prompt: string | undefined };

/**
 * What a transcription used: the upstream's word on the duration where it gives one, since that is what it bills,
 * and what the file's bytes came to otherwise. Never the caller's. A source that bills tokens is believed in the same
 * way, and estimated by the second where it reports none. Neither is believed beyond what the file can have come to.
 */
export function meterTranscription(
  sound: Sound,
  told: TranscriptionUsage,
  source: Source,
): Metered {
  const { rates } = source;
  const isByTokens = rates.audio_input_token !== undefined;
  return {
    ...believe(usageOf(sound, told, source), boundUsage(sound, source)),
    estimated: isByTokens && told.tokens === null,
  };
}

/** What is held for it. */
export const transcriptionBoundRaw = (sound: Sound, source: Source): bigint =>
  priceRaw(boundUsage(sound, source), source.rates, source.marginBps);

/**
 * The most that a file can come to: whole seconds, because there are upstreams that bill those, a token for each byte of
 * the prompt, and an answer as dense as any language is.
 */
function boundUsage({ durationMs, prompt = '' }: Sound, source: Source): Usage {
  const seconds = Math.ceil(durationMs / 1_000);
  const tokens = {
    inputAudio: seconds * LIMITS.audioTokensPerSecond,
    inputText: Buffer.byteLength(prompt),
    output: seconds * LIMITS.mostTranscriptTokensPerSecond,
  };
  return usageOf({ durationMs, prompt }, { seconds, tokens }, source);
}

function usageOf(
  { durationMs, prompt }: Sound,
  told: TranscriptionUsage,
  { rates }: Source,
): Usage {
  const seconds = told.seconds ?? durationMs / 1_000;
  const tokens = told.tokens ?? {
    inputAudio: Math.ceil(seconds * LIMITS.audioTokensPerSecond),
    inputText: tokensOf(prompt?.length ?? 0),
    output: Math.ceil(seconds * LIMITS.transcriptTokensPerSecond),
  };
  return {
    audio_second: seconds,
    ...(rates.audio_input_token !== undefined && { audio_input_token: tokens.inputAudio }),
    ...(rates.text_input_token !== undefined && { text_input_token: tokens.inputText }),
    ...(rates.text_output_token !== undefined && { text_output_token: tokens.output }),
    ...(rates.request !== undefined && { request: 1 }),
  };
}
