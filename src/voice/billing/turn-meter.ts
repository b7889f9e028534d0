import { ENGINE_LIMITS } from '../../engines/limits.ts';
import { priceRaw, UNITS, type Usage } from '../../kernel/price.ts';
import type { Model, Source } from '../../models/catalogue/catalogue.ts';
import { MODEL_LIMITS } from '../../models/limits.ts';
import { VOICE_LIMITS } from '../limits.ts';

/** Milliseconds of audio per audio token: heard from the caller, and spoken by the model. */
export const HEARD_TOKEN_MS = 100;
export const SPOKEN_TOKEN_MS = 50;

/** Usage of one turn, before it is converted to the units of a rate card. */
export type TurnUse = {
  readonly textIn: number;
  /** The part of `textIn` that the upstream read from its cache. */
  readonly cachedIn?: number;
  readonly textOut: number;
  readonly heardMs: number;
  readonly spokenMs: number;
  readonly spokenChars: number;
};

/** Upper bounds of one turn, from which its reserve is computed. */
export type TurnCap = {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly spokenChars: number;
  /** True when speech counts against the output tokens of an answer, as text does. */
  readonly capsSound: boolean;
  /** True when a receipt counts heard and spoken audio as tokens, whatever the source bills. */
  readonly countsSound: boolean;
};

/** Upper bound of the average number of characters per token, in any language. */
const CHARS_PER_TOKEN = 8;

/** Returns the maximum number of characters in an answer of `tokens`. */
export const charsOf = (tokens: number): number => tokens * CHARS_PER_TOKEN;

/** A cap with the length of the next answer, which is shorter than the longest answer while less is held. */
export type TurnRoom = Omit<TurnCap, 'outputTokens'> & {
  outputTokens: number;
  /** Upper bound in tokens of the models' longest answer. */
  readonly mostOutputTokens: number;
};

/** Returns the bounds of one turn: the bounds of `cap`, with `outputTokens` output tokens. */
export const roomIn = (cap: TurnCap, outputTokens: number): TurnRoom => ({
  inputTokens: cap.inputTokens,
  outputTokens,
  mostOutputTokens: cap.outputTokens,
  spokenChars: cap.spokenChars,
  capsSound: cap.capsSound,
  countsSound: cap.countsSound,
});

export function turnCap({ contextWindow, maxOutputTokens }: Model): TurnCap {
  return {
    inputTokens: Math.min(contextWindow ?? Infinity, VOICE_LIMITS.realtime.inputTokens),
    ...answerCap(maxOutputTokens ?? MODEL_LIMITS.tokens.usualOutput),
    capsSound: true,
    countsSound: true,
  };
}

/**
 * Returns the bounds of a turn in a live session on this server's engines. The protocol bounds the words of an answer; the
 * audio is bounded only when the source bills it by the token. A session with a plan uses `cascadeCap` instead, because its LLM
 * bills words and its TTS model bills audio.
 */
export function liveTurnCap(model: Model, { rates }: Source): TurnCap {
  return {
    ...turnCap(model),
    ...answerCap(model.maxOutputTokens ?? VOICE_LIMITS.liveOutputTokens),
    capsSound: rates.audio_output_token !== undefined,
    countsSound: rates.audio_input_token !== undefined || rates.audio_output_token !== undefined,
  };
}

const answerCap = (outputTokens: number) => ({
  outputTokens,
  spokenChars: Math.min(charsOf(outputTokens), ENGINE_LIMITS.speech.textChars),
});

/** Returns the maximum number of characters that an answer of `tokens` may speak. */
export const spokenCharsOf = (
  { outputTokens, spokenChars }: Pick<TurnCap, 'outputTokens' | 'spokenChars'>,
  tokens = outputTokens,
): number => Math.min(spokenChars, charsOf(tokens));

/** Returns the token limit of an answer: the smaller of the client's limit and the held limit. */
export const outputCapOf = (
  { outputTokens }: TurnCap,
  { maxOutputTokens: wanted }: { readonly maxOutputTokens: number | 'inf' },
): number => (wanted === 'inf' ? outputTokens : Math.min(outputTokens, wanted));

const spokenTokens = (ms: number) => Math.ceil(ms / SPOKEN_TOKEN_MS);
const heardTokens = (ms: number) => Math.ceil(ms / HEARD_TOKEN_MS);

/** Returns the usage in the units that the source has rates for. */
export function turnUsage(source: Source, use: TurnUse, requests: 0 | 1): Usage {
  const all: Usage = {
    text_input_token: use.textIn,
    text_output_token: use.textOut,
    audio_input_token: heardTokens(use.heardMs),
    audio_output_token: spokenTokens(use.spokenMs),
    character: use.spokenChars,
    // Transcription is priced by seconds of audio heard.
    audio_second: Math.round(use.heardMs) / 1_000,
    request: requests,
  };
  const usage: Partial<Record<keyof Usage, number>> = {};
  for (const unit of UNITS) {
    const amount = all[unit];
    if (source.rates[unit] !== undefined && amount !== undefined && amount > 0) {
      usage[unit] = amount;
    }
  }
  return usage;
}

/** Returns the upper bound of the cost of one turn that answers with `outputTokens`. No turn starts with less held. */
export function turnReserveRaw(
  source: Source,
  cap: TurnCap,
  outputTokens: number = cap.outputTokens,
): bigint {
  const dearest: TurnUse = {
    textIn: cap.inputTokens,
    textOut: outputTokens,
    // One utterance that waits to be billed, and another utterance that is being spoken.
    heardMs: 2 * ENGINE_LIMITS.utterance.committedSeconds * 1_000,
    spokenMs: outputTokens * SPOKEN_TOKEN_MS,
    spokenChars: spokenCharsOf(cap, outputTokens),
  };
  return priceRaw(turnUsage(source, dearest, 1), source.rates, source.marginBps);
}

/** Audio tokens of a turn. */
export type SoundTokens = { readonly heard: number; readonly spoken: number };

/** Returns the audio tokens of a turn of a speech-to-speech model, computed from the duration of its audio. */
export const soundTokens = ({ heardMs, spokenMs }: TurnUse): SoundTokens => ({
  heard: heardTokens(heardMs),
  spoken: spokenTokens(spokenMs),
});

/** Returns the audio tokens that a cascade's TTS model billed. The LLM reads the caller's speech as text. */
export function boughtSoundTokens(bought: readonly { readonly usage: Usage }[]): SoundTokens {
  let spoken = 0;
  for (const { usage } of bought) spoken += usage.audio_output_token ?? 0;
  return { heard: 0, spoken };
}
