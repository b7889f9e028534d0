import { LIMITS } from '../kernel/limits.ts';
import { priceRaw, type Usage } from '../kernel/price.ts';
import type { TranscriptionUsage } from '../rails/transcription-rail.ts';
import type { Source } from './catalogue.ts';
import type { Metered } from './charge-row.ts';
import { tokensOf } from './estimate-chat.ts';

type Sound = { readonly durationMs: number; readonly prompt: string | undefined };

/**
 * What a transcription used: the upstream's word on the duration where it gives one, since that is what it bills,
 * and what the file's bytes came to otherwise. Never the caller's. A source that bills tokens is believed in the same
 * way, and estimated by the second where it does not tell.
 */
export function meterTranscription(
  { durationMs, prompt }: Sound,
  told: TranscriptionUsage,
  source: Source,
): Metered {
  const seconds = told.seconds ?? durationMs / 1_000;
  const tokens = told.tokens ?? {
    inputAudio: Math.ceil(seconds * LIMITS.audioTokensPerSecond),
    inputText: tokensOf(prompt?.length ?? 0),
    output: Math.ceil(seconds * LIMITS.transcriptTokensPerSecond),
  };
  const { rates } = source;
  const usage: Usage = {
    audio_second: seconds,
    ...(rates.audio_input_token !== undefined && { audio_input_token: tokens.inputAudio }),
    ...(rates.text_input_token !== undefined && { text_input_token: tokens.inputText }),
    ...(rates.text_output_token !== undefined && { text_output_token: tokens.output }),
    ...(rates.request !== undefined && { request: 1 }),
  };
  const isByTokens = rates.audio_input_token !== undefined;
  return { usage, estimated: isByTokens && told.tokens === null };
}

/** What is held for it: whole seconds, because there are upstreams that bill those. */
export function transcriptionBoundRaw({ durationMs, prompt }: Sound, source: Source): bigint {
  const whole = { durationMs: Math.ceil(durationMs / 1_000) * 1_000, prompt };
  const { usage } = meterTranscription(whole, { seconds: null, tokens: null }, source);
  return priceRaw(usage, source.rates, source.marginBps);
}
