import { LIMITS } from '../../kernel/limits.ts';
import { priceRaw, UNITS, type Usage } from '../../kernel/price.ts';
import type { Model, Source } from '../../models/catalogue/catalogue.ts';
import type { ResponseUsage } from '../protocols/openai-realtime/response-writer.ts';

/** A token of sound is 100 ms heard or 50 ms spoken. */
export const HEARD_TOKEN_MS = 100;
export const SPOKEN_TOKEN_MS = 50;

/** What one turn used, before it is expressed in the units of a rate card. */
export type TurnUse = {
  readonly textIn: number;
  /** Of `textIn`, what an upstream had kept from before. */
  readonly cachedIn?: number;
  readonly textOut: number;
  readonly heardMs: number;
  readonly spokenMs: number;
  readonly spokenChars: number;
};

/** The bounds that every turn keeps, so that a reserve can cover it. */
export type TurnCap = {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly spokenChars: number;
  /** Whether what is spoken counts as output, as what is written does. */
  readonly countsSound: boolean;
};

/** No language that is tokenised sensibly has longer tokens on average. */
const CHARS_PER_TOKEN = 8;

/** No answer of so many tokens is longer. */
export const charsOf = (tokens: number): number => tokens * CHARS_PER_TOKEN;

/** A cap as it is at present: answers are shorter while less is held for them. */
export type TurnRoom = Omit<TurnCap, 'outputTokens'> & {
  outputTokens: number;
  /** The longest answer that the models have. */
  readonly mostOutputTokens: number;
};

export function turnCap(model: Model): TurnCap {
  const outputTokens = model.maxOutputTokens ?? LIMITS.defaultOutputTokens;
  return {
    inputTokens: Math.min(model.contextWindow ?? Infinity, LIMITS.realtimeInputTokens),
    outputTokens,
    spokenChars: Math.min(charsOf(outputTokens), LIMITS.engines.speechTextChars),
    countsSound: true,
  };
}

/** Tokens that an answer may have, by its client's request and what is held for it. */
export const outputCapOf = (
  { outputTokens }: TurnCap,
  { maxOutputTokens: wanted }: { readonly maxOutputTokens: number | 'inf' },
): number => (wanted === 'inf' ? outputTokens : Math.min(outputTokens, wanted));

const spokenTokens = (ms: number) => Math.ceil(ms / SPOKEN_TOKEN_MS);
const heardTokens = (ms: number) => Math.ceil(ms / HEARD_TOKEN_MS);

/** The units that this source charges for; others would only blur the ledger. */
export function turnUsage(source: Source, use: TurnUse, requests: 0 | 1): Usage {
  const all: Usage = {
    text_input_token: use.textIn,
    text_output_token: use.textOut,
    audio_input_token: heardTokens(use.heardMs),
    audio_output_token: spokenTokens(use.spokenMs),
    character: use.spokenChars,
    // Recognition is bought by the second that was heard, speech by what was spoken.
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

/** The most that one turn can cost with so long an answer: no turn starts without as much being held. */
export function turnReserveRaw(
  source: Source,
  cap: TurnCap,
  outputTokens: number = cap.outputTokens,
): bigint {
  const dearest: TurnUse = {
    textIn: cap.inputTokens,
    textOut: outputTokens,
    // One utterance that waits to be billed, and another that is being spoken.
    heardMs: 2 * LIMITS.utteranceSeconds * 1_000,
    spokenMs: outputTokens * SPOKEN_TOKEN_MS,
    spokenChars: Math.min(cap.spokenChars, charsOf(outputTokens)),
  };
  return priceRaw(turnUsage(source, dearest, 1), source.rates, source.marginBps);
}

/** Tokens of sound in a turn. */
export type SoundTokens = { readonly heard: number; readonly spoken: number };

/** Those of a model that takes sound and gives it, by the length of both. */
export const soundTokens = ({ heardMs, spokenMs }: TurnUse): SoundTokens => ({
  heard: heardTokens(heardMs),
  spoken: spokenTokens(spokenMs),
});

/**
 * Those of a turn whose sound is text to what answers: what its voice has billed. What was heard is told with its
 * transcript, and is in the text that was read.
 */
export function boughtSoundTokens(bought: readonly { readonly usage: Usage }[]): SoundTokens {
  let spoken = 0;
  for (const { usage } of bought) spoken += usage.audio_output_token ?? 0;
  return { heard: 0, spoken };
}

const NOTHING: TurnUse = { textIn: 0, textOut: 0, heardMs: 0, spokenMs: 0, spokenChars: 0 };

/** The usage block of `response.done`: every sum is that of its details. */
export function renderUsage(use: TurnUse, { heard, spoken }: SoundTokens): ResponseUsage {
  const cached = use.cachedIn ?? 0;
  return {
    total_tokens: use.textIn + heard + use.textOut + spoken,
    input_tokens: use.textIn + heard,
    output_tokens: use.textOut + spoken,
    input_token_details: {
      text_tokens: use.textIn,
      audio_tokens: heard,
      image_tokens: 0,
      cached_tokens: cached,
      cached_tokens_details: { text_tokens: cached, audio_tokens: 0, image_tokens: 0 },
    },
    output_token_details: { text_tokens: use.textOut, audio_tokens: spoken },
  };
}

export const NO_USAGE: ResponseUsage = renderUsage(NOTHING, soundTokens(NOTHING));
