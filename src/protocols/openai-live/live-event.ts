import { parseObject } from '../../kernel/json/parse-json.ts';
import { isObject, type Json } from '../../kernel/json.ts';
import { leadingType } from '../openai-realtime/relay/metered-event.ts';

/** Event of a live session at an upstream that describes the session or its usage. */
export type LiveEvent = {
  readonly type: 'session.started' | 'session.updated' | 'session.usage.updated' | 'session.closed';
  readonly event: Json;
  /** Cumulative seconds of the session, up to `MOST_SECONDS`. Undefined when the event has no count. */
  readonly seconds: number | undefined;
};

const TYPES: readonly LiveEvent['type'][] = [
  'session.started',
  'session.updated',
  'session.usage.updated',
  'session.closed',
];
/** Quoted event types to search for. Base64 contains no quotes, so the search skips it at the speed of memory. */
const NEEDLES = TYPES.map((type) => Buffer.from(`"${type}"`));
/** Bound of the seconds that an upstream may report. A larger count is not credible, and this one can still be priced. */
const MOST_SECONDS = 1_000_000;

/** Reads a frame that describes the session or its usage. Returns undefined for all other frames without parsing them. */
export function readLiveEvent(frame: Buffer, type = leadingType(frame)): LiveEvent | undefined {
  if (!mayDescribe(frame, type)) return undefined;
  const event = parseObject(frame);
  const known = TYPES.find((name) => name === event.type);
  return known === undefined ? undefined : { type: known, event, seconds: secondsOf(event.usage) };
}

const mayDescribe = (frame: Buffer, type: string | undefined): boolean =>
  type === undefined
    ? NEEDLES.some((needle) => frame.includes(needle))
    : TYPES.some((name) => name === type);

function secondsOf(usage: unknown): number | undefined {
  const seconds = isObject(usage) ? usage.seconds : undefined;
  return typeof seconds === 'number' && seconds >= 0 ? Math.min(seconds, MOST_SECONDS) : undefined;
}

const SPOKEN = 'session.output_audio.delta';
/** Bytes of an audio frame without its base64 audio. */
const AROUND_SOUND = `{"type":"${SPOKEN}","delta":""}`.length;

/**
 * Returns the approximate bytes of audio in a frame; 0 for other frames and for frames whose type is not their first member.
 */
export const spokenBytes = (type: string | undefined, frame: Buffer): number =>
  type === SPOKEN ? (Math.max(0, frame.length - AROUND_SOUND) * 3) / 4 : 0;
