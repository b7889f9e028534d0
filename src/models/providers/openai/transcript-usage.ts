import { isObject, type Json } from '../../../kernel/json.ts';
import { LIMITS } from '../../../kernel/limits.ts';
import { tokenCount } from '../token-count.ts';
import type { TranscriptionUsage } from '../transcription-rail.ts';

/**
 * What a transcript in JSON says that it used. Of two durations `usage.seconds` wins over `duration`: it is what the
 * upstream bills.
 */
export function readTranscriptUsage({ duration, usage }: Json): TranscriptionUsage {
  const told = isObject(usage) ? usage : {};
  return { seconds: seconds(told.seconds) ?? seconds(duration), tokens: tokensOf(told) };
}

function seconds(value: unknown): number | null {
  const told = typeof value === 'string' && /^[\d.]{1,16}$/.test(value) ? Number(value) : value;
  if (typeof told !== 'number' || !(told > 0) || told > LIMITS.upstreamAudioSeconds) return null;
  return Math.ceil(told * 1_000 - 1e-6) / 1_000;
}

function tokensOf(usage: Json): TranscriptionUsage['tokens'] {
  const { input_token_details: details } = usage;
  const input = tokenCount(usage.input_tokens);
  const output = tokenCount(usage.output_tokens);
  if (input === undefined || output === undefined) return null;
  const text = isObject(details) ? (tokenCount(details.text_tokens) ?? 0) : 0;
  const inputText = Math.min(input, text);
  return { inputAudio: input - inputText, inputText, output };
}
