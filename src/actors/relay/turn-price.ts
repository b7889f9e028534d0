import type { Model, Source } from '../../gateway/catalogue.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { Unit, Usage } from '../../kernel/price.ts';
import type { RealtimeTokens } from '../../rails/realtime/metered-event.ts';
import { SPOKEN_TOKEN_MS, turnCap } from '../realtime/turn-meter.ts';
import { sessionPrice } from '../voice-purse.ts';

/** Whether a source bills how long a session lasts, and nothing else. */
export const isBilledByTime = ({ rates }: Source): boolean =>
  rates.audio_second !== undefined && rates.text_output_token === undefined;

/** The units that this source charges for; cached tokens as any others where it has no rate for them. */
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

/** What a transcript used that its upstream counted in seconds. */
export const heardTokens = (seconds: number): RealtimeTokens => ({
  ...NO_TOKENS,
  audioIn: Math.ceil(seconds * LIMITS.audioTokensPerSecond),
});

/** What a turn is taken for that its upstream did not count: all that was carried was sound. */
export const carriedTokens = (carried: {
  readonly upBytes: number;
  readonly downBytes: number;
}): RealtimeTokens => ({
  ...NO_TOKENS,
  audioIn: Math.ceil(secondsOf(carried.upBytes) * LIMITS.audioTokensPerSecond),
  audioOut: Math.ceil((secondsOf(carried.downBytes) * 1_000) / SPOKEN_TOKEN_MS),
});

const NO_TOKENS = { textIn: 0, audioIn: 0, cachedText: 0, cachedAudio: 0, textOut: 0, audioOut: 0 };

const secondsOf = (bytes: number): number => bytes / LIMITS.relaySoundBytesPerSecond;

/**
 * The most that one turn can cost whose conversation had so many tokens at the turn before: all of them again, as much
 * as may be said beside them, and the longest answer, all in the dearest kind of token.
 */
export function relayTurnRaw(model: Model, source: Source, conversationTokens: number): bigint {
  const cap = turnCap(model);
  const input = Math.min(conversationTokens + cap.inputTokens, model.contextWindow ?? Infinity);
  const { audio_input_token: heard = 0n, text_input_token: read = 0n } = source.rates;
  const { audio_output_token: spoken = 0n, text_output_token: written = 0n } = source.rates;
  return sessionPrice(source, {
    [heard > read ? 'audio_input_token' : 'text_input_token']: input,
    [spoken > written ? 'audio_output_token' : 'text_output_token']: cap.outputTokens,
    request: 1,
  });
}
