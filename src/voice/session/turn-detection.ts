import type { TurnBounds } from '../../engines/engine.ts';
import { TURN_MODES, type TurnWaits } from './turns/end-of-turn.ts';

export const EAGERNESS = ['low', 'medium', 'high', 'auto'] as const;
type Eagerness = (typeof EAGERNESS)[number];

/**
 * Actions of turn detection: create a response when the caller ends a turn, interrupt the response when the caller begins a
 * turn.
 */
export type TurnAnswers = { readonly createResponse: boolean; readonly interruptResponse: boolean };

/** Settings that find the end of a turn: by silence (`server_vad`), or by silence and the words before it (`semantic_vad`). */
export type TurnDetection =
  | (TurnAnswers & {
      readonly type: 'server_vad';
      readonly threshold: number;
      readonly prefixPaddingMs: number;
      readonly silenceDurationMs: number;
      /**
       * Silence from the end of an answer until the caller is prompted, in milliseconds; null when the caller is not prompted.
       */
      readonly idleTimeoutMs: number | null;
      /** Silence from the end of speech until a speculative answer begins, in milliseconds; null for no speculative answers. */
      readonly speculateAfterMs: number | null;
    })
  | (TurnAnswers & {
      readonly type: 'semantic_vad';
      readonly eagerness: Eagerness;
      /** Replaces the waits of the eagerness. */
      readonly waits?: TurnWaits;
      /**
       * True when an answer is begun speculatively at a likely end of turn. Absent means true only for the eagerness `high`.
       */
      readonly isEager?: boolean;
      /**
       * Milliseconds of silence from the end of an answer until the caller is prompted. When it is absent, the caller is not.
       */
      readonly idleTimeoutMs?: number | null;
    });

export const SERVER_VAD = {
  type: 'server_vad',
  threshold: 0.5,
  prefixPaddingMs: 300,
  silenceDurationMs: 500,
  idleTimeoutMs: null,
  speculateAfterMs: null,
  createResponse: true,
  interruptResponse: true,
} as const satisfies TurnDetection;

/** Waits of each eagerness. `maxSilenceMs` has the values of OpenAI's Realtime protocol. */
const EAGER_WAITS: Readonly<Record<Eagerness, TurnWaits>> = {
  high: { ...TURN_MODES.fast, minSilenceMs: 300, maxSilenceMs: 2_000 },
  medium: { ...TURN_MODES.balanced, minSilenceMs: 500, maxSilenceMs: 4_000 },
  auto: { ...TURN_MODES.balanced, minSilenceMs: 500, maxSilenceMs: 4_000 },
  low: { ...TURN_MODES.patient, minSilenceMs: 1_000, maxSilenceMs: 8_000 },
};

/** Settings that decide when an utterance begins and ends. */
export type Endpointing = {
  readonly threshold: number;
  readonly prefixPaddingMs: number;
  /** Milliseconds of silence that end an utterance whose words are unknown or are not used to decide the end of a turn. */
  readonly silenceDurationMs: number;
  /** Silence in milliseconds after which an utterance has likely ended. */
  readonly speculateAfterMs?: number | undefined;
};

/** Returns the silences that end a turn, by its last words; undefined when the words do not matter. */
export function waitsOf(detection: TurnDetection | null): TurnWaits | undefined {
  if (detection?.type !== 'semantic_vad') return undefined;
  return detection.waits ?? EAGER_WAITS[detection.eagerness];
}

/**
 * Returns the bounds for a transcriber that finds the ends of turns; undefined when the client ends turns, or a fixed
 * silence that the client chose.
 */
export function turnBoundsOf(detection: TurnDetection | null): TurnBounds | undefined {
  const waits = waitsOf(detection);
  if (waits === undefined || detection?.type !== 'semantic_vad') return undefined;
  const { eagerness, isEager = eagerness === 'high' } = detection;
  const { maxSilenceMs, minSilenceMs, onNumberMs } = waits;
  return { leastMs: minSilenceMs, mostMs: Math.max(maxSilenceMs, onNumberMs), isEager };
}

export function endpointingOf(detection: TurnDetection | null): Endpointing | null {
  if (detection === null) return null;
  if (detection.type === 'semantic_vad') {
    const { prefixPaddingMs, threshold } = SERVER_VAD;
    const silenceDurationMs = waitsOf(detection)?.minSilenceMs ?? SERVER_VAD.silenceDurationMs;
    return { threshold, prefixPaddingMs, silenceDurationMs };
  }
  const { prefixPaddingMs, silenceDurationMs, speculateAfterMs, threshold } = detection;
  return {
    threshold,
    prefixPaddingMs,
    silenceDurationMs,
    speculateAfterMs: speculateAfterMs ?? undefined,
  };
}
