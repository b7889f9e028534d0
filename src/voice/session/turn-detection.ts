import { z } from 'zod';

const EAGERNESS = ['low', 'medium', 'high', 'auto'] as const;
type Eagerness = (typeof EAGERNESS)[number];

type Answers = { readonly createResponse: boolean; readonly interruptResponse: boolean };

/** How the server finds the end of what a caller says, in the two ways of the realtime protocol. */
export type TurnDetection =
  | (Answers & {
      readonly type: 'server_vad';
      readonly threshold: number;
      readonly prefixPaddingMs: number;
      readonly silenceDurationMs: number;
      /** The caller is prompted after so long a silence behind an answer; null: never. */
      readonly idleTimeoutMs: number | null;
      /** Silence after which an answer is begun, should the turn have ended; null: none is. */
      readonly speculateAfterMs: number | null;
    })
  | (Answers & { readonly type: 'semantic_vad'; readonly eagerness: Eagerness });

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

/**
 * What eagerness means here: the silence that ends a turn whose words could stand as they are, and the
 * one that ends it when they trail off in the middle of a thought. The longer ones are the protocol's.
 */
const PATIENCE = {
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
  /** Silence that ends an utterance whose last words ask for more; without it all end alike. */
  readonly unfinishedSilenceMs?: number;
  /** Silence after which an utterance has likely ended. */
  readonly speculateAfterMs?: number | undefined;
};

export function endpointingOf(detection: TurnDetection | null): Endpointing | null {
  if (detection === null) return null;
  if (detection.type === 'server_vad') {
    const { prefixPaddingMs, silenceDurationMs, speculateAfterMs, threshold } = detection;
    return {
      threshold,
      prefixPaddingMs,
      silenceDurationMs,
      speculateAfterMs: speculateAfterMs ?? undefined,
    };
  }
  const { threshold, prefixPaddingMs } = SERVER_VAD;
  return { threshold, prefixPaddingMs, ...PATIENCE[detection.eagerness] };
}

const answers = {
  create_response: z.boolean().nullish(),
  interrupt_response: z.boolean().nullish(),
};

export const Detection = z
  .discriminatedUnion('type', [
    z.object({
      type: z.literal('server_vad'),
      threshold: z.number().min(0).max(1).nullish(),
      prefix_padding_ms: z.number().int().min(0).max(2_000).nullish(),
      silence_duration_ms: z.number().int().min(100).max(5_000).nullish(),
      idle_timeout_ms: z.number().int().min(5_000).max(30_000).nullish(),
      speculate_after_ms: z.number().int().min(100).max(5_000).nullish(),
      ...answers,
    }),
    z.object({
      type: z.literal('semantic_vad'),
      eagerness: z.enum(EAGERNESS).nullish(),
      idle_timeout_ms: z.null({ error: 'is for server_vad only' }).optional(),
      ...answers,
    }),
  ])
  .nullable();

export function readDetection(detection: z.output<typeof Detection>): TurnDetection | null {
  if (detection === null) return null;
  const wanted: Answers = {
    createResponse: detection.create_response ?? true,
    interruptResponse: detection.interrupt_response ?? true,
  };
  if (detection.type === 'semantic_vad') {
    return { type: 'semantic_vad', eagerness: detection.eagerness ?? 'auto', ...wanted };
  }
  return {
    type: 'server_vad',
    threshold: detection.threshold ?? SERVER_VAD.threshold,
    prefixPaddingMs: detection.prefix_padding_ms ?? SERVER_VAD.prefixPaddingMs,
    silenceDurationMs: detection.silence_duration_ms ?? SERVER_VAD.silenceDurationMs,
    idleTimeoutMs: detection.idle_timeout_ms ?? null,
    speculateAfterMs: detection.speculate_after_ms ?? null,
    ...wanted,
  };
}

/** The detection as a session shows it. In a transcription session nothing is answered. */
export function renderDetection(
  detection: TurnDetection | null,
  { isAnswering }: { readonly isAnswering: boolean },
): Record<string, unknown> | null {
  if (detection === null) return null;
  const wanted = isAnswering && {
    create_response: detection.createResponse,
    interrupt_response: detection.interruptResponse,
  };
  if (detection.type === 'semantic_vad') {
    return { type: 'semantic_vad', eagerness: detection.eagerness, ...wanted };
  }
  return {
    type: 'server_vad',
    threshold: detection.threshold,
    prefix_padding_ms: detection.prefixPaddingMs,
    silence_duration_ms: detection.silenceDurationMs,
    idle_timeout_ms: detection.idleTimeoutMs,
    // No member of the protocol: clients that do not ask for it do not see it.
    ...(detection.speculateAfterMs !== null && { speculate_after_ms: detection.speculateAfterMs }),
    ...wanted,
  };
}
