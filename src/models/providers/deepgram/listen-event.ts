import { parseObject } from '../../../kernel/json/parse-json.ts';
import { isObject, type Json } from '../../../kernel/json.ts';

/** Event of Deepgram's live protocol about the audio that was sent to the upstream. */
export type ListenEvent =
  | {
      readonly kind: 'results';
      readonly text: string;
      readonly isFinal: boolean;
      readonly speechFinal: boolean;
      /**
       * End of the audio with the words, in seconds. Infinity when not reported: the words cover all audio up to now.
       */
      readonly endSeconds: number;
    }
  | {
      readonly kind: 'metadata';
      /** Seconds of audio that the upstream processed and bills. Null when not reported. */
      readonly seconds: number | null;
    };

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
