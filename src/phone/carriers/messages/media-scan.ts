import {
  base64Of,
  isInner,
  isObjectAt,
  nameOf,
  numberOf,
  scanMessage,
  WORD,
  wordOf,
} from '../../../../media/message/sound-message.ts';

/** Sound of a message; the next message of any stream overwrites it, bytes included. */
export type ScannedMedia = {
  readonly atMs: number;
  readonly isInbound: boolean;
  readonly bytes: Uint8Array;
};

const scanned = { atMs: 0, isInbound: false, bytes: new Uint8Array() as Uint8Array };

/**
 * The hot path of a media stream: the sound of `{"event":"media", …, "media":{…}}`, without building anything of it.
 * Undefined: the message is something else, or is written in a way that only JSON.parse can read.
 */
export function scanMedia(message: Uint8Array): ScannedMedia | undefined {
  const members = scanMessage(message);
  let seen = 0;
  let sound: Uint8Array | undefined;
  let isInMedia = false;
  scanned.atMs = -1;
  scanned.isInbound = false;
  for (let member = 0; member < members; member++) {
    if (!isInner(member)) isInMedia = nameOf(member) === WORD.media;
    if (isObjectAt(member) && !isInMedia) return undefined;
    const part = partOf(member);
    // Each at most once: of a name that comes twice JSON.parse takes the last.
    if ((seen & part) !== 0) return undefined;
    seen |= part;
    if (part === TIMESTAMP) scanned.atMs = numberOf(member);
    else if (part === TRACK) scanned.isInbound = wordOf(member) === WORD.inbound;
    else if (part === PAYLOAD) {
      sound = base64Of(member);
      if (sound === undefined) return undefined;
    } else if (part === EVENT && wordOf(member) !== WORD.media) return undefined;
    else if (part === MEDIA && !isObjectAt(member)) return undefined;
  }
  if ((seen & EVENT) === 0 || scanned.atMs < 0 || sound === undefined) return undefined;
  scanned.bytes = sound;
  return scanned;
}

const EVENT = 1;
const MEDIA = 2;
const TIMESTAMP = 4;
const TRACK = 8;
const PAYLOAD = 16;

/** What a member says of the sound; 0: nothing. */
function partOf(member: number): number {
  const name = nameOf(member);
  if (!isInner(member)) {
    if (name === WORD.event) return EVENT;
    return name === WORD.media ? MEDIA : 0;
  }
  if (name === WORD.timestamp) return TIMESTAMP;
  if (name === WORD.track) return TRACK;
  return name === WORD.payload ? PAYLOAD : 0;
}
