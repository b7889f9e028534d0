import { decodeBase64 } from '../../../../media/message/sound-message.ts';
import { tryParseJson } from '../../../kernel/json/parse-json.ts';
import { isObject, type Json } from '../../../kernel/json.ts';
import { PHONE_LIMITS } from '../../limits.ts';
import { CallbackMalformed, type MediaEvent } from '../carrier.ts';
import { scanMedia } from './media-scan.ts';

/** Bounds of the JSON in a media stream's messages other than sound. */
const BOUNDS = { depth: 8, values: 500, members: 500 };

const IGNORED: MediaEvent = { kind: 'ignored' };
const NO_SOUND: Uint8Array = new Uint8Array();

/** The last sound read on any connection. An object per connection would be cold in the cache at its next message. */
const heard = { kind: 'media' as const, atMs: 0, bytes: NO_SOUND };

/** Parts in which a carrier's messages differ from other carriers' messages. `started` throws CallbackMalformed. */
export type MessageDialect = {
  readonly carrier: string;
  readonly started: (message: Json) => Extract<MediaEvent, { kind: 'started' }>;
};

/** Creates the reader of one connection's messages. All carriers name the members of `media` messages alike. */
export function createMessageReader({ carrier, started }: MessageDialect): {
  /** Reads a message. Its sound is valid until the next message of any connection is read. Throws CallbackMalformed. */
  read(message: Uint8Array): MediaEvent;
} {
  const malformed = (what: string) => new CallbackMalformed(`${carrier}: ${what}`);

  function memberOf(message: Json, name: string): Json {
    const member = message[name];
    if (!isObject(member)) throw malformed(`a message "${name}" without its member`);
    return member;
  }

  function media({ track, timestamp, payload }: Json): MediaEvent {
    if (track !== 'inbound') return IGNORED;
    const atMs = wholeNumber(timestamp);
    if (atMs === undefined || typeof payload !== 'string') throw malformed('sound without a time');
    const bytes = decodeBase64(payload);
    if (bytes === undefined) throw malformed('sound that is no base64');
    return { kind: 'media', atMs, bytes };
  }

  function textOf(member: Json, name: string, mostChars: number): string {
    const text = member[name];
    if (typeof text === 'string' && text.length <= mostChars) return text;
    throw malformed(`a message without a ${name}`);
  }

  function parsed(message: Json): MediaEvent {
    switch (message.event) {
      case 'media':
        return media(memberOf(message, 'media'));
      case 'start':
        return started(message);
      case 'mark':
        return { kind: 'mark', name: textOf(memberOf(message, 'mark'), 'name', 256) };
      case 'dtmf':
        return digitOf(textOf(memberOf(message, 'dtmf'), 'digit', 8));
      case 'stop':
        return { kind: 'stopped' };
      default:
        if (typeof message.event !== 'string') throw malformed('a message without an event');
        return IGNORED;
    }
  }

  return {
    read(message) {
      if (message.length > PHONE_LIMITS.media.messageBytes) throw malformed('a message too long');
      const sound = scanMedia(message);
      if (sound !== undefined) {
        if (!sound.isInbound) return IGNORED;
        heard.atMs = sound.atMs;
        heard.bytes = sound.bytes;
        return heard;
      }
      const value = tryParseJson(message, BOUNDS);
      if (!isObject(value)) throw malformed('a message that is no JSON object');
      return parsed(value);
    },
  };
}

/** Returns the event of a key. Other tones than a telephone's keys are false detections in speech and ignored. */
const digitOf = (digit: string): MediaEvent =>
  /^[0-9*#A-D]$/.test(digit) ? { kind: 'digit', digit } : IGNORED;

function wholeNumber(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
  return Number.isSafeInteger(number) && (number as number) >= 0 ? (number as number) : undefined;
}
