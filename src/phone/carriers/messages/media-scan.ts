import {
  afterBlanks,
  Base64Text,
  endOfText,
  JSON_SIGNS,
  spells,
} from '../../../kernel/json/json-bytes.ts';

/**
 * The hot path of a media stream: reads `{"event":"media", …, "media":{…}}` byte by byte, without building anything of
 * it. It gives up on every message that is not exactly of this shape, and JSON.parse reads those.
 */

const ZERO = 0x30;
/** More digits could leave the whole numbers of a double, and no stream is so long. */
const MOST_DIGITS = 15;

const EVENT = Buffer.from('event');
const MEDIA = Buffer.from('media');
const TRACK = Buffer.from('track');
const INBOUND = Buffer.from('inbound');
const TIMESTAMP = Buffer.from('timestamp');
const PAYLOAD = Buffer.from('payload');

/** Sound of a message; the next message overwrites it, bytes included. */
export type ScannedMedia = {
  readonly atMs: number;
  readonly isInbound: boolean;
  readonly bytes: Uint8Array;
};

/** Reads media messages into memory that it keeps. */
export class MediaScan {
  readonly #sound = new Base64Text();
  readonly #scanned = { atMs: -1, isInbound: false, bytes: this.#sound.bytes };
  #isMedia = false;
  #hasPayload = false;

  /** Undefined: the message is something else, or is written in a way that only JSON.parse can read. */
  read(message: Uint8Array): ScannedMedia | undefined {
    const scanned = this.#scanned;
    scanned.atMs = -1;
    scanned.isInbound = false;
    this.#isMedia = false;
    this.#hasPayload = false;
    const end = this.#object(message, afterBlanks(message, 0), false);
    if (end < 0 || afterBlanks(message, end + 1) !== message.length) return undefined;
    if (!this.#isMedia || scanned.atMs < 0 || !this.#hasPayload) return undefined;
    scanned.bytes = this.#sound.bytes;
    return scanned;
  }

  /** The bytes of a base64 text in this memory; undefined where it is none. */
  decode(text: string): Uint8Array | undefined {
    const quoted = Buffer.from(`"${text}"`);
    return this.#sound.read(quoted, 0) === quoted.length - 1 ? this.#sound.bytes : undefined;
  }

  /** Answers where the object ends. Each member at most once: of a name that comes twice JSON.parse takes the last. */
  #object(message: Uint8Array, from: number, isMediaObject: boolean): number {
    if (message[from] !== JSON_SIGNS.open) return -1;
    let at = from;
    let seen = 0;
    do {
      const name = afterBlanks(message, at + 1) + 1;
      const nameEnd = endOfText(message, name - 1);
      if (nameEnd < 0) return -1;
      at = afterBlanks(message, nameEnd + 1);
      if (message[at] !== JSON_SIGNS.colon) return -1;
      const value = afterBlanks(message, at + 1);
      const member = isMediaObject
        ? mediaMember(message, name, nameEnd)
        : topMember(message, name, nameEnd);
      if ((seen & member) !== 0) return -1;
      seen |= member;
      const end = isMediaObject
        ? this.#mediaValue(message, value, member)
        : this.#topValue(message, value, member);
      if (end < 0) return -1;
      at = afterBlanks(message, end + 1);
    } while (message[at] === JSON_SIGNS.comma);
    return message[at] === JSON_SIGNS.close ? at : -1;
  }

  #topValue(message: Uint8Array, value: number, member: number): number {
    if (member === MEDIA_MEMBER) return this.#object(message, value, true);
    const end = endOfText(message, value);
    if (member === EVENT_MEMBER) this.#isMedia = spells(message, value + 1, end, MEDIA);
    return end;
  }

  #mediaValue(message: Uint8Array, value: number, member: number): number {
    if (member === PAYLOAD_MEMBER) {
      this.#hasPayload = true;
      return this.#sound.read(message, value);
    }
    const end = endOfText(message, value);
    if (member === TIMESTAMP_MEMBER) this.#scanned.atMs = numberIn(message, value + 1, end);
    if (member === TRACK_MEMBER) {
      this.#scanned.isInbound = spells(message, value + 1, end, INBOUND);
    }
    return end;
  }
}

const EVENT_MEMBER = 1;
const MEDIA_MEMBER = 2;

const topMember = (message: Uint8Array, from: number, to: number): number => {
  if (spells(message, from, to, EVENT)) return EVENT_MEMBER;
  return spells(message, from, to, MEDIA) ? MEDIA_MEMBER : 0;
};

const TIMESTAMP_MEMBER = 1;
const TRACK_MEMBER = 2;
const PAYLOAD_MEMBER = 4;

const mediaMember = (message: Uint8Array, from: number, to: number): number => {
  if (spells(message, from, to, TIMESTAMP)) return TIMESTAMP_MEMBER;
  if (spells(message, from, to, TRACK)) return TRACK_MEMBER;
  return spells(message, from, to, PAYLOAD) ? PAYLOAD_MEMBER : 0;
};

/** The whole number of the text from `from` to `to`, or -1. */
function numberIn(message: Uint8Array, from: number, to: number): number {
  const digits = to - from;
  if (digits <= 0 || digits > MOST_DIGITS) return -1;
  let value = 0;
  for (let at = from; at < to; at++) {
    const digit = (message[at] as number) - ZERO;
    if (digit < 0 || digit > 9) return -1;
    value = value * 10 + digit;
  }
  return value;
}
