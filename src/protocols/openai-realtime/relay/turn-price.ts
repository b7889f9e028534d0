import type { Unit, Usage } from '../../../kernel/price.ts';
import type { Model, Source } from '../../../models/catalogue/catalogue.ts';
import { MODEL_LIMITS } from '../../../models/limits.ts';
import { sessionPrice } from '../../../voice/billing/session-hold.ts';
import { SPOKEN_TOKEN_MS, turnCap } from '../../../voice/billing/turn-meter.ts';
import { REALTIME_LIMITS } from '../limits.ts';
import type { RealtimeTokens } from './metered-event.ts';

/** Returns true when a source bills the seconds of a session, and not its tokens. */
export const isBilledByTime = ({ rates }: Source): boolean =>
  rates.audio_second !== undefined && rates.text_output_token === undefined;

/**
 * Returns the usage in the units that the source has rates for. Without a rate for cached tokens, they count as other tokens.
 */
export function tokenUsage({ rates }: Source, tokens: RealtimeTokens, requests: number): Usage {
  const isCached = rates.cached_input_token !== undefined;
  const cachedText = isCached ? tokens.cachedText : 0;
  const cachedAudio = isCached ? tokens.cachedAudio : 0;
  const all: Usage = {
    text_input_token: tokens.textIn - cachedText,
    audio_input_token: tokens.audioIn - cachedAudio,
    cached_input_token: cachedText + cachedAudio,
    text_output_token: tokens.textOut,
    audio_output_token: tokens.audioOut,
    request: requests,
  };
  const billed = Object.entries(all).filter(
    ([unit, n]) => n > 0 && rates[unit as Unit] !== undefined,
  );
  return Object.fromEntries(billed);
}

/** Returns the tokens of a transcript that the upstream reports in seconds. */
export const heardTokens = (seconds: number): RealtimeTokens => ({
  ...NO_TOKENS,
  audioIn: Math.ceil(seconds * MODEL_LIMITS.transcription.audioTokensPerSecond),
});

/** Estimates the tokens of a turn that the upstream did not report, as if all forwarded bytes were audio. */
export const carriedTokens = (carried: {
  readonly upBytes: number;
  readonly downBytes: number;
}): RealtimeTokens => ({
  ...NO_TOKENS,
  audioIn: Math.ceil(secondsOf(carried.upBytes) * MODEL_LIMITS.transcription.audioTokensPerSecond),
  audioOut: Math.ceil((secondsOf(carried.downBytes) * 1_000) / SPOKEN_TOKEN_MS),
});

const NO_TOKENS = { textIn: 0, audioIn: 0, cachedText: 0, cachedAudio: 0, textOut: 0, audioOut: 0 };

const secondsOf = (bytes: number): number => bytes / REALTIME_LIMITS.soundBytesPerSecond;

/** Upper bounds of the new input and the answer of one turn that its hold covers, in tokens. */
export type TurnSize = { readonly inputTokens: number; readonly outputTokens: number };

/** Returns the turn size for an answer of `outputTokens`. A shorter answer also leaves less room for new input. */
export function sizeOf(model: Model, outputTokens: number): TurnSize {
  const { inputTokens: most } = turnCap(model);
  const said = Math.max(
    REALTIME_LIMITS.leastTurn.inputTokens,
    outputTokens * REALTIME_LIMITS.inputPerOutput,
  );
  return { outputTokens, inputTokens: Math.min(said, most) };
}

/**
 * Returns the upper bound of one turn's cost, in raw units: the model reads `conversationTokens` again, then the new input, and
 * answers. Each token counts at the highest rate. `size` bounds the input and the answer (default: a full turn).
 */
export function relayTurnRaw(
  model: Model,
  source: Source,
  conversationTokens: number,
  size: TurnSize = turnCap(model),
): bigint {
  const input = Math.min(conversationTokens + size.inputTokens, model.contextWindow ?? Infinity);
  const { audio_input_token: heard = 0n, text_input_token: read = 0n } = source.rates;
  const { audio_output_token: spoken = 0n, text_output_token: written = 0n } = source.rates;
  return sessionPrice(source, {
    [heard > read ? 'audio_input_token' : 'text_input_token']: input,
    [spoken > written ? 'audio_output_token' : 'text_output_token']: size.outputTokens,
    request: 1,
  });
}
