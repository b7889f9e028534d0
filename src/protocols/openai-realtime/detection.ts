import { z } from 'zod';
import {
  EAGERNESS,
  SERVER_VAD,
  type TurnAnswers,
  type TurnDetection,
} from '../../voice/session/turn-detection.ts';

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
  const wanted: TurnAnswers = {
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

/** Returns the detection in the protocol's form. A transcription session has no answers, so their settings are left out. */
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
    // Not in the protocol: only clients that requested it get it.
    ...(detection.speculateAfterMs !== null && { speculate_after_ms: detection.speculateAfterMs }),
    ...wanted,
  };
}
