import { tryParseJson } from '../../../kernel/json/parse-json.ts';
import { upstreamClosed } from '../../../voice/live/voice-endings.ts';
import type { TranscriptDialect } from '../../../voice/transcription/dialect.ts';
import { DEEPGRAM_LIMITS } from '../limits.ts';
import { readConfigure, type TurnSettings } from './turn-thresholds.ts';
import { type TurnStream, TurnWriter } from './turn-writer.ts';

const { idleSeconds: listenIdleSeconds } = DEEPGRAM_LIMITS.listen;
const QUIET_MS = listenIdleSeconds * 1_000;

/**
 * Returns the dialect of Deepgram's turns (Flux): https://developers.deepgram.com/docs/flux/state. Frames of an upstream of
 * this protocol pass unchanged.
 */
export const turnsDialect = (settings: TurnSettings, stream: TurnStream): TranscriptDialect => ({
  silenceDurationMs: DEEPGRAM_LIMITS.turn.pauseMs,
  // The protocol has no message that keeps a stream open without audio.
  quietMs: QUIET_MS,
  keptMs: QUIET_MS,
  quiet: { code: 1011, reason: `NET-0001: no audio in ${listenIdleSeconds} s` },
  relayed: (frame) => frame,
  passedOn,
  brokenOff: upstreamClosed,
  keepsUpstream: false,
  writer: (send) => new TurnWriter(settings, stream, send),
});

/**
 * Returns the message for an upstream. Undefined when the message is invalid or has key terms, which are billed in addition to
 * the audio: https://developers.deepgram.com/docs/keyterm.
 */
function passedOn(type: string, text: string): string | undefined {
  if (type !== 'Configure') return JSON.stringify({ type });
  const configure = readConfigure(tryParseJson(text));
  if (configure === undefined || (configure.keyterms ?? []).length > 0) return undefined;
  const { language_hints, thresholds } = configure;
  return JSON.stringify({ type, thresholds, language_hints });
}
