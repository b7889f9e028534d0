import { isObject, type Json } from '../../../kernel/json.ts';
import { MODEL_LIMITS } from '../../limits.ts';
import { tokenCount } from '../token-count.ts';
import type { TranscriptionUsage } from '../transcription-rail.ts';

/** Returns the usage that a transcript in JSON reports. `usage.seconds` wins over `duration`, because upstreams bill it. */
export function readTranscriptUsage({ duration, usage }: Json): TranscriptionUsage {
  const used = isObject(usage) ? usage : {};
  return { seconds: seconds(used.seconds) ?? seconds(duration), tokens: tokensOf(used) };
}

function seconds(value: unknown): number | null {
  const given = typeof value === 'string' && /^[\d.]{1,16}$/.test(value) ? Number(value) : value;
  if (typeof given !== 'number' || !(given > 0) || given > MODEL_LIMITS.usage.audioSeconds)
    return null;
  return Math.ceil(given * 1_000 - 1e-6) / 1_000;
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
