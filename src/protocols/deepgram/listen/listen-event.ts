import { parseObject } from '../../../kernel/json/parse-json.ts';
import { isObject, type Json } from '../../../kernel/json.ts';
import type { ListenEvent } from '../../../voice/transcription/dialect.ts';

/** Reads a text frame of the upstream. Undefined for a frame that affects neither the transcript nor the price. */
export function readListenEvent(frame: Buffer): ListenEvent | undefined {
  const event = parseObject(frame);
  if (event.type === 'Metadata') {
    return { kind: 'metadata', seconds: secondsOf(event.duration) ?? null };
  }
  if (event.type === 'TurnInfo') return turnOf(event);
  if (event.type !== 'Results') return undefined;
  const text = transcriptOf(event.channel);
  const duration = secondsOf(event.duration) ?? (text === '' ? 0 : Number.POSITIVE_INFINITY);
  return {
    kind: 'results',
    text,
    isFinal: event.is_final === true,
    speechFinal: event.speech_final === true,
    endSeconds: (secondsOf(event.start) ?? 0) + duration,
  };
}

/** Reads an event of the socket that reports turns. A turn's window ends at the end of the audio that was processed. */
function turnOf(event: Json): ListenEvent {
  const isEnd = event.event === 'EndOfTurn';
  return {
    kind: 'results',
    text: typeof event.transcript === 'string' ? event.transcript : '',
    isFinal: isEnd,
    speechFinal: isEnd,
    endSeconds: secondsOf(event.audio_window_end) ?? Number.POSITIVE_INFINITY,
  };
}

function transcriptOf(channel: unknown): string {
  const { alternatives } = isObject(channel) ? channel : {};
  const best: unknown = Array.isArray(alternatives) ? alternatives[0] : undefined;
  return isObject(best) && typeof best.transcript === 'string' ? best.transcript : '';
}

const secondsOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
