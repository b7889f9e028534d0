export const EAGERNESS = ['low', 'medium', 'high', 'auto'] as const;
type Eagerness = (typeof EAGERNESS)[number];

/** What the session does by itself when the caller begins or ends a turn. */
export type TurnAnswers = { readonly createResponse: boolean; readonly interruptResponse: boolean };

/** How the server finds the end of an utterance: by silence, or by silence and the words before it. */
export type TurnDetection =
  | (TurnAnswers & {
      readonly type: 'server_vad';
      readonly threshold: number;
      readonly prefixPaddingMs: number;
      readonly silenceDurationMs: number;
      /** Silence that ends an unfinished sentence; absent: all utterances end alike. */
      readonly unfinishedSilenceMs?: number;
      /** Silence after an answer until the caller is prompted; null: never. */
      readonly idleTimeoutMs: number | null;
      /** Silence after which a speculative answer is begun; null: never. */
      readonly speculateAfterMs: number | null;
    })
  | (TurnAnswers & { readonly type: 'semantic_vad'; readonly eagerness: Eagerness });

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

/** The silence that ends a complete or an unfinished sentence, by eagerness. The longer values are the protocol's. */
const SILENCES = {
  high: { silenceDurationMs: 300, unfinishedSilenceMs: 2_000 },
  medium: { silenceDurationMs: 500, unfinishedSilenceMs: 4_000 },
  auto: { silenceDurationMs: 500, unfinishedSilenceMs: 4_000 },
  low: { silenceDurationMs: 1_000, unfinishedSilenceMs: 8_000 },
} as const satisfies Record<Eagerness, object>;

/** When an utterance begins and ends. */
export type Endpointing = {
  readonly threshold: number;
  readonly prefixPaddingMs: number;
  readonly silenceDurationMs: number;
  /** Silence that ends an unfinished sentence; without it, all utterances end alike. */
  readonly unfinishedSilenceMs?: number;
  /** Silence after which an utterance has likely ended. */
  readonly speculateAfterMs?: number | undefined;
};

export function endpointingOf(detection: TurnDetection | null): Endpointing | null {
  if (detection === null) return null;
  if (detection.type === 'server_vad') {
    const { prefixPaddingMs, silenceDurationMs, speculateAfterMs, threshold } = detection;
    const { unfinishedSilenceMs } = detection;
    return {
      ...(unfinishedSilenceMs !== undefined && { unfinishedSilenceMs }),
      threshold,
      prefixPaddingMs,
      silenceDurationMs,
      speculateAfterMs: speculateAfterMs ?? undefined,
    };
  }
  const { threshold, prefixPaddingMs } = SERVER_VAD;
  return { threshold, prefixPaddingMs, ...SILENCES[detection.eagerness] };
}
